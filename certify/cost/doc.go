// Package cost says what chains of finite length are worth: the accuracy of averages over
// their outer steps, the step at which a budget of gradients gives the smallest mean squared
// error, and the largest stable step.
//
// Sums works out asymptotic variances for laws of any kind: besides the law of the state it
// advances the law weighted by the sum of each observable so far. A Search looks for steps of
// any Chain.
//
// Gradients counts what an outer step costs. Averages of a chain are those of a process in its
// stationary law: what a start elsewhere costs is left out.
package cost
