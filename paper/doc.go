// Package paper holds what Franzese et al. 2022 published and claim, and
// decides each claim with numbers.
//
// PublishedIn has the numbers of the paper's tables (published.toml). Claims has the
// paper's claims, and those of others about the same questions. A Claim is a value:
// what is said, who says it and where, how it is tested, and a function Decide that
// reads the Evidence and returns a Finding: a verdict and the numbers behind it. To
// test a claim of your own, write such a value and append it to Claims().
//
// Evidence is what runs left in a store, gathered by their plans: results of
// sampled chains by the id of the study that needed them, and exact errors of
// stationary laws by their purpose (bench.OfOrders, bench.OfInner, …). Nothing but
// statistics is computed here, without integrators, models or data sets.
//
//	plans, err := bench.Plans(store, "quick")
//	evidence := paper.Gather(plans, bench.Results{Store: store})
//	err = paper.WriteText(os.Stdout, paper.Decide(paper.Claims(), evidence), "quick")
//
// Statements about orders are decided without Monte Carlo. Statements about
// samples take data sets as replicates, and state their criterion.
package paper
