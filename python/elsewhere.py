"""Writes docs/elsewhere.md: what is found of the samplers of four libraries. Run by ``make elsewhere``."""

import importlib.metadata
import math
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")  # of the libraries' imports

import jax  # noqa: E402

import hambench  # noqa: E402
from hambench import adapters  # noqa: E402

jax.config.update("jax_enable_x64", True)
SCHEMES = ("full", "reshuffle", "replacement")

# What each library's documentation says of the sampler, as far as it bears on the law; and what to know of the row.
SAMPLERS = [
    (adapters.blackjax_sgld, "sgld", "Euler solver for overdamped Langevin diffusion", ""),
    (adapters.blackjax_sghmc, "sghmc", "Euler solver for the diffusion equation of the SGHMC algorithm (Chen et al. 2014)", "inner"),
    (adapters.posteriors_sgld, "sgld", "SGLD from Welling and Teh 2011", ""),
    (adapters.posteriors_sghmc, "sghmc", "SGHMC from Chen et al. 2014; targets p(θ, m)", ""),
    (adapters.posteriors_baoa, "baoa", "conjugate to BAOAB; equivalent when analyzing functions of the parameter trajectory", "precision"),
    (adapters.sgmcmcjax_sgld, "build_sgld_kernel", "Euler–Maruyama solver for an overdamped Langevin diffusion", ""),
    (adapters.sgmcmcjax_sghmc, "build_sghmc_kernel", "SGHMC in the parametrisation of section G of Chen et al. 2014", "inner"),
    (adapters.sgmcmcjax_baoab, "build_baoab_kernel", "BAOAB splitting scheme for the underdamped Langevin diffusion", "frozen"),
    (lambda: adapters.sgmcmcjax_baoab(diffusion=True), "diffusions.baoab", "the same scheme, without the kernel's builder", "frozen"),
]

NOTES = {
    "inner": "The momentum is redrawn after every L inner steps, and L is fixed while h shrinks. The inner steps are Euler's "
    "and begin with a drift, so that over the trajectory θ moves by h²L(L − 1)/2 times the force instead of (Lh)²/2 times it. The variance of θ then tends to L/(L − 1) times the right one. "
    "For larger L, or with Lh held fixed, the error is smaller; with one refreshment of the momentum at the start and friction afterwards, as in `posteriors.sghmc`, it is of order 1.",
    "precision": "PyTorch's default precision was set to float64: the kernel makes its friction a tensor of the default precision, and in float32 the noise of small steps is off by about 10⁻⁵, relative.",
    "frozen": "In version 0.2.13 `build_baoab_kernel` unpacks both updates of the diffusion into one name, `(update_diff1, update_diff1)`, so that both are the second half-kick and the position is never updated. "
    "The diffusion itself, run by the library's own `_build_langevin_kernel` with both updates, has the order of BAOAB.",
}


# The same on N(0, 1), with the full batch: samplers that are not affine, and those of devinterp.
NORMAL = '{"kind": "scalar", "friction": 1, "batches": [{"stiffness": 1, "center": 0, "amplitude": 0, "frequency": 1, "phase": 0}]}'
STEPS = (0.025, 0.005, 0.001, 0.00025)
MORE = [
    (adapters.devinterp_sgld, "SGMCMC.sgld", "SGLD with a localisation term (Lau et al. 2023)", ""),
    (adapters.devinterp_rmsprop_sgld, "SGMCMC.rmsprop_sgld", "RMSProp's preconditioner with SGLD; defaults α = 0.99, ε = 0.1", "squares"),
    (lambda: adapters.devinterp_rmsprop_sgld(eps=1e-8), "SGMCMC.rmsprop_sgld", "the same with ε = 10⁻⁸", "squares"),
    (adapters.devinterp_sgnht, "SGMCMC.sgnht", "matches SGNHT's interface; default diffusion factor A = 0.01", "unmoved"),
    (adapters.sgmcmcjax_psgld, "build_psgld_kernel", "algorithm 1 of Li et al. 2016; defaults α = 0.99, ε = 10⁻⁵", "squares"),
    (adapters.sgmcmcjax_sgldadam, "build_sgldAdam_kernel", "Adam-like diffusion; defaults β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸", "adam"),
    (adapters.sgmcmcjax_sgnht, "build_sgnht_kernel", "Euler solver for the SG-NHT diffusion (Ding et al. 2014)", ""),
    (adapters.sgmcmcjax_badodab, "build_badodab_kernel", "splitting scheme for the 3-equation Langevin diffusion", "frozen"),
    (adapters.posteriors_sgnht, "sgnht", "SGNHT from Ding et al. 2014", ""),
]

MORE_NOTES = {
    "squares": "The mean of squares remembers 1/(1 − α) steps, whatever their length, so that at small steps it follows the square of the gradient, and the law tends to e^(−U)(|U′| + ε). "
    "These are stationary laws. The libraries start the mean at 0, where the first steps are up to 1/ε times as long, and a coordinate is thrown out; the excess is forgotten after some thousand steps at h = 0.025.",
    "unmoved": "In version 2.0.1 the step of the position adds neither the momentum nor the thermostat (`grad_correction`) that the preconditioner computes, so that it is one of SGLD with noise of 2A = 0.02 times its variance.",
    "adam": "Long after the start, where the corrections for it are 1. The first moment and the mean of squares are two variables of open law; where a bound is missing, their bases do not resolve them.",
    "frozen": "In version 0.2.13 `build_badodab_kernel` unpacks both updates of the diffusion into one name, as `build_baoab_kernel` does, and the position is never updated.",
}


def measured(o: hambench.Observable) -> list[str]:
    """The error at each step, to the digits that its bound leaves."""
    return [f"{error:.{min(4, max(0, -math.floor(math.log10(max(bound, 1e-9)))))}f}" if bound < 0.5 else "–" for error, bound in zip(o.errors, o.resolution)]


def tabulated(samplers: list, notes: dict[str, str], cells) -> tuple[list[str], list[str]]:
    """A table's rows, as many for a sampler as ``cells`` has lists of what stands behind its documentation, and the notes below it."""
    out: list[str] = []
    used: list[str] = []
    for make, function, says, note in samplers:
        sampler = make()
        print(sampler.name, file=sys.stderr, flush=True)
        if note and note not in used:
            used.append(note)
        inner = f", L = {sampler.normals - 1}" if note == "inner" else ""
        for row in cells(sampler):
            number = str(used.index(note) + 1) if note else ""
            out.append("| " + " | ".join([sampler.name.split(".")[0], f"`{function}`{inner}", says, *row, number]) + " |")
    return out, [f"{i + 1}. {notes[note]}" for i, note in enumerate(used)]


def orders(sampler: hambench.Sampler) -> list[list[str]]:
    """Cells on the problem gaussian, by scheme."""
    out = []
    for row in hambench.certify(sampler, problem="gaussian", scheme=SCHEMES, timeout=600):
        joint = "–" if sampler.state == 1 else found(row["joint.cov"])
        out.append([row.scheme, found(row["theta.mean"]), found(row["theta.cov"]), joint])
    return out


def variances(sampler: hambench.Sampler) -> list[list[str]]:
    """Cells on N(0, 1)."""
    o = hambench.certify(sampler, problem=NORMAL, scheme=["full"], steps=STEPS, timeout=600)[0]["theta^2"]
    return [[", ".join(measured(o)), found(o)]]


def more() -> list[str]:
    """The part of the page on N(0, 1)."""
    rows, notes = tabulated(MORE, MORE_NOTES, variances)
    return [
        "",
        "## On N(0, 1)",
        "",
        "Samplers with a thermostat or a preconditioner that follows the gradients, and those of devinterp, on N(0, 1), friction 1, with the full batch: the error of the variance, whose right value is 1, "
        "at h = " + ", ".join(f"{h:g}" for h in STEPS) + " (`–`: not resolved), and its order. Where a drift is (lr/2)∇U, lr = 2h. The leading term is in units of the deviation of θ², √2; of order 0 it is the size at the smallest step that `certify` took by itself. `python/hambench/adapters.py` says which parameters others have. "
        f"devinterp {importlib.metadata.version('devinterp')}.",
        "",
        "| library | sampler | its documentation says | error of the variance | order | note |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        "Notes on N(0, 1)",
        "",
        *notes,
    ]


def found(o: hambench.Observable) -> str:
    if o.verdict == "exact":
        return "exact"
    if math.isnan(o.order):
        return f"≥ {o.at_least:g}" if o.verdict == "confirmed" else o.verdict
    return f"{o.order:g}, {o.constant:.2g}·h{'' if o.order == 1 else '^%g' % o.order}" if o.order else f"0, {o.constant:.2g}"


def lines() -> list[str]:
    versions = {name: importlib.metadata.version(name) for name in ("blackjax", "posteriors", "SGMCMCJax", "jax", "torch")}
    rows, notes = tabulated(SAMPLERS, NOTES, orders)
    return [
        "# Samplers of other libraries",
        "",
        "Exact orders of the stochastic-gradient Langevin and Hamiltonian samplers of blackjax, devinterp, posteriors and SGMCMCJax, without Monte Carlo: `make elsewhere` wrote this page.",
        "Each library's own kernel is run as published; its draws of normals are replaced by the program's (`python/hambench/adapters.py`), and a test compares the step with the library's own.",
        "The problem is the built-in `gaussian` (two parameters, four batches of unequal curvature, friction 1.3). Versions: " + ", ".join(f"{k} {v}" for k, v in versions.items()) + ".",
        "",
        "Orders are of the relative error of the stationary law, with its leading term: of θ's mean, θ's covariance, and the covariance of θ and r together (`–`: the momentum is no part of the state).",
        "`exact`: no error, where one of order 4 would be seen. An order says how an error behaves as the step decreases. At the steps of a particular application, an error of low order may be far smaller than others.",
        "",
        "| library | sampler | its documentation says | scheme | θ mean | θ covariance | joint | note |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
        "",
        "Notes",
        "",
        *notes,
        *more(),
        "",
        "Left out: SGMCMCJax's diffusion `badodab` without the kernel's builder, whose thermostat has a law that is not resolved (in version 0.2.13 it compares |v|, not |v|², with the number of parameters d: in chains of it with dt = 0.05 the variance of N(0, I) comes out as 1.7, 4.7 and 16.7 for d = 1, 4 and 16); blackjax's `csgld`, whose step depends on the energy, and its `sgnht`; `sglrw` of posteriors, whose noise is binary; estimators by control variates and SVRG, which change the gradient, not the step; and all samplers with a Metropolis test, whose law is the target by construction.",
        "SGMCMCJax 0.2.13 imports a module that current versions of JAX have dropped, which it needs for its progress bar alone; an empty module stands in for it.",
        "",
        "To repeat a row: `python3 -c \"import jax; jax.config.update('jax_enable_x64', True); import hambench; from hambench import adapters;",
        "print(hambench.certify(adapters.blackjax_sgld(), problem='gaussian'))\"`, with the versions above (`python/requirements.txt` and, of devinterp, `python/requirements-no-deps.txt`).",
    ]


if __name__ == "__main__":
    text = "\n".join(lines()) + "\n"
    pathlib.Path(sys.argv[1]).write_text(text)
