// Package claims decides the claims of Franzese et al. 2022 with numbers.
//
// A claim is a value: what the paper says, where it says it, how it is
// tested, and a function that reads the evidence and gives the numbers and a
// verdict. Two kinds of evidence are there: exact errors of the stationary
// law, from package certify, and the distances of sampled chains, from a
// store. All returns every claim; adding one is a function and a line there.
//
// Statements about orders are decided without Monte Carlo. Statements about
// samples state their criterion and how often it would be wrong by chance.
package claims
