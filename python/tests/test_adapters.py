"""An adapter's step, given the numbers that the library itself draws, is the library's step."""

import contextlib

import numpy as np
import pytest

jax = pytest.importorskip("jax")
blackjax = pytest.importorskip("blackjax")
torch = pytest.importorskip("torch")
pytest.importorskip("sgmcmcjax")
posteriors = pytest.importorskip("posteriors")

import hambench  # noqa: E402
from hambench import Force, adapters  # noqa: E402

jax.config.update("jax_enable_x64", True)

H, FRICTION = 0.1, 1.3
RNG = np.random.default_rng(0)
THETA, R, KEPT = RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2))
FORCE = Force({"precision": np.array([[2.0, 0.3], [0.3, 1.5]]), "shift": np.array([1.0, -0.5])}, np.sin, np.cos)
KEY = jax.random.key(7)


def normal(key):
    return np.asarray(jax.random.normal(key, THETA.shape))


def flat(key):  # blackjax draws for all parameters as one vector
    return np.asarray(jax.random.normal(key, (THETA.size,))).reshape(THETA.shape)


def likelihood():
    def log(theta, row):
        return -(theta * jax.lax.stop_gradient(FORCE(theta))).sum()

    return log, lambda theta: 0.0, (jax.numpy.zeros((1, 1)),), 1


def their_blackjax_sgld():
    kernel = blackjax.sgld(lambda x, _: -FORCE(x)).step
    return [kernel(KEY, jax.numpy.asarray(THETA), None, H)], [flat(KEY)]


def their_blackjax_sghmc():
    kernel = blackjax.sghmc(lambda x, _: -FORCE(x), 10, alpha=FRICTION).step
    return [kernel(KEY, jax.numpy.asarray(THETA), None, H)], [flat(KEY), *map(flat, jax.random.split(KEY, 10))]


def their_posteriors(name):
    module = getattr(posteriors.sgmcmc, name)
    theta, r = torch.as_tensor(THETA), torch.as_tensor(R)
    gradient = torch.as_tensor(FORCE(THETA))
    settings = {} if name == "sgld" else {"alpha": FRICTION}
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        transform = module.build(lambda p, _: (-(p * gradient).sum(), torch.tensor(0)), H, **settings)
        state = transform.init(theta) if name == "sgld" else transform.init(theta, momenta=r)
        torch.manual_seed(3)
        ended, _ = transform.update(state, None)
        torch.manual_seed(3)
        drawn = torch.randn_like(theta).numpy()
    finally:
        torch.set_default_dtype(before)
    return [ended.params] if name == "sgld" else [ended.params, ended.momenta], [drawn]


def their_sgmcmcjax_sgld():
    init, kernel, read = adapters._sgmcmcjax().build_sgld_kernel(H, *likelihood())
    out = read(kernel(0, KEY, init(KEY, jax.numpy.asarray(THETA))))
    return [out], [normal(jax.random.split(jax.random.split(KEY)[0], 1)[0])]


def their_sgmcmcjax_sghmc():
    init, kernel, read = adapters._sgmcmcjax().build_sghmc_kernel(H * H, 2, *likelihood(), alpha=H * FRICTION)
    out = read(kernel(0, KEY, init(KEY, jax.numpy.asarray(THETA))))
    first, second = jax.random.split(KEY)
    inner = [jax.random.split(jax.random.split(k)[0], 1)[0] for k in jax.random.split(second, 2)]
    return [out], [normal(jax.random.split(first, 1)[0]), *map(normal, inner)]


CASES = {
    "blackjax.sgld": (adapters.blackjax_sgld, their_blackjax_sgld),
    "blackjax.sghmc": (adapters.blackjax_sghmc, their_blackjax_sghmc),
    "posteriors.sgld": (adapters.posteriors_sgld, lambda: their_posteriors("sgld")),
    "posteriors.sghmc": (adapters.posteriors_sghmc, lambda: their_posteriors("sghmc")),
    "posteriors.baoa": (adapters.posteriors_baoa, lambda: their_posteriors("baoa")),
    "sgmcmcjax.sgld": (adapters.sgmcmcjax_sgld, their_sgmcmcjax_sgld),
    "sgmcmcjax.sghmc": (adapters.sgmcmcjax_sghmc, their_sgmcmcjax_sghmc),
}


def ours(sampler, normals):
    force = (FORCE,) * sampler.batches if sampler.batches > 1 else FORCE
    out = sampler.step(THETA, None if sampler.state == 1 else R, force, normals[0] if len(normals) == 1 else tuple(normals), H, FRICTION)
    return [out] if sampler.state == 1 else list(out)


def distance(a, b):
    return max(float(np.abs(np.asarray(x) - np.asarray(y)).max()) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("case", CASES)
def test_the_librarys_own_draws_give_the_librarys_own_step(case):
    make, theirs = CASES[case]
    sampler = make()
    want, drawn = theirs()
    assert len(drawn) == sampler.normals
    assert distance(ours(sampler, drawn), want) < 1e-12
    # Negative controls: another scale, another order.
    assert distance(ours(sampler, [1.01 * x for x in drawn]), want) > 1e-4
    if len(drawn) > 1:
        assert distance(ours(sampler, drawn[::-1]), want) > 1e-4


@pytest.mark.parametrize("case", [c for c in CASES if c.endswith(("sgld", "baoa"))])
def test_a_wrong_scale_of_the_draws_is_refuted(case):
    right = CASES[case][0]()

    def wrong(theta, r, grad, normal, h, friction):
        return right.step(theta, r, grad, 1.01 * normal, h, friction)

    hambench.certify(right, problem="gaussian", scheme=["full"]).assert_claims()
    with pytest.raises(AssertionError, match="theta.cov: refuted, order 0"):
        hambench.certify(right(step=wrong), problem="gaussian", scheme=["full"]).assert_claims()


def test_the_frozen_kernel_is_found_and_its_diffusion_is_right():
    with pytest.raises(AssertionError, match="theta never moves"):
        hambench.certify(adapters.sgmcmcjax_baoab(), problem="gaussian", scheme=["full"]).assert_claims()
    rows = hambench.certify(adapters.sgmcmcjax_baoab(diffusion=True), problem="gaussian", scheme=["full"]).assert_claims()
    assert rows.order("joint.cov", scheme="full") == 2


def test_a_kernel_that_draws_too_much_says_so():
    sampler = adapters.blackjax_sghmc(10)(normals=3)
    with pytest.raises(hambench.HambenchError, match="raise normals"), contextlib.suppress(TypeError):
        ours(sampler, [THETA] * 3)


# Samplers with variables of their own, in one dimension: one step of the library from a state, with its own draws.
X, V, SQUARE = np.array([0.7]), np.array([-0.4]), np.array([0.6])
SCALAR = Force({"precision": np.array([[1.7]]), "shift": np.array([0.4])}, np.sin, np.cos)


def their_devinterp(method, keep, **settings):
    from devinterp.optim.sgmcmc import SGMCMC

    parameters = torch.nn.Parameter(torch.tensor(X))
    parameters.grad = torch.tensor(SCALAR(X))
    optimizer = getattr(SGMCMC, method)([parameters], lr=2 * H, **settings)
    if keep:
        optimizer.state[parameters]["square_avg"] = torch.tensor(SQUARE)
    if method == "sgnht":
        optimizer.state[parameters]["momentum"] = torch.zeros(1)
    torch.manual_seed(3)
    if method == "sgnht":
        torch.randn_like(parameters)  # drawn and dropped
    drawn = torch.normal(mean=0.0, std=1.0, size=(1,), dtype=torch.get_default_dtype())
    torch.manual_seed(3)
    optimizer.step()
    squares = [optimizer.state[parameters]["square_avg"].numpy()] if keep else []
    return [parameters.detach().numpy(), *squares], drawn.double().numpy()


def their_sgmcmcjax(build, number, vectors, **settings):
    kernels = adapters._sgmcmcjax()

    def log(theta, row):
        return -(theta * jax.lax.stop_gradient(SCALAR(theta))).sum()

    init, kernel, _ = getattr(kernels, f"build_{build}_kernel")(settings.pop("dt"), log, lambda theta: 0.0, (jax.numpy.zeros((1, 1)),), 1, **settings)
    begun = init(KEY, jax.numpy.asarray(X))
    begun = begun._replace(diffusion_state=begun.diffusion_state._replace(packed_state=[[jax.numpy.asarray(v) for v in vectors]]))
    out = kernel(number, KEY, begun).diffusion_state.packed_state[0]
    return out, np.asarray(jax.random.normal(jax.random.split(jax.random.split(KEY)[0], 1)[0], (1,)))


def their_posteriors_sgnht():
    gradient = torch.as_tensor(SCALAR(X))
    transform = posteriors.sgmcmc.sgnht.build(lambda p, _: (-(p * gradient).sum(), torch.tensor(0)), H, alpha=FRICTION, momenta=0.0)
    begun = transform.init(torch.as_tensor(X)).replace(momenta=torch.as_tensor(V), xi=torch.tensor(float(SQUARE[0] + FRICTION), dtype=torch.float64))
    torch.manual_seed(3)
    ended, _ = transform.update(begun, None)
    torch.manual_seed(3)
    return [ended.params, ended.momenta, ended.xi.reshape(1) - FRICTION], torch.randn_like(torch.as_tensor(X)).numpy()


def theirs_thermal():
    (x, v, alpha), drawn = their_sgmcmcjax("sgnht", 1, (X, H * V, H * (SQUARE[0] + FRICTION)), dt=H * H, a=H * FRICTION)
    return [x, v / H, (alpha / H - FRICTION).reshape(1)], drawn


VARIABLES = {
    "devinterp.sgld": (adapters.devinterp_sgld, lambda: their_devinterp("sgld", False)),
    "devinterp.rmsprop_sgld": (adapters.devinterp_rmsprop_sgld, lambda: their_devinterp("rmsprop_sgld", True)),
    "devinterp.sgnht": (adapters.devinterp_sgnht, lambda: their_devinterp("sgnht", False)),
    "posteriors.sgnht": (adapters.posteriors_sgnht, their_posteriors_sgnht),
    "sgmcmcjax.psgld": (adapters.sgmcmcjax_psgld, lambda: their_sgmcmcjax("psgld", 0, (X, SQUARE), dt=2 * H)),
    "sgmcmcjax.sgldAdam": (adapters.sgmcmcjax_sgldadam, lambda: their_sgmcmcjax("sgldAdam", 10**6, (X, V, SQUARE), dt=2 * H)),
    "sgmcmcjax.sgnht": (adapters.sgmcmcjax_sgnht, theirs_thermal),
    "sgmcmcjax.badodab": (adapters.sgmcmcjax_badodab, lambda: their_sgmcmcjax("badodab", 1, (X, V, SQUARE[0]), dt=H)),
}


@pytest.mark.filterwarnings("ignore:nbeta")
@pytest.mark.parametrize("case", VARIABLES)
def test_a_step_with_variables_is_the_librarys_own(case):
    if case.startswith("devinterp"):
        pytest.importorskip("devinterp.optim.sgmcmc")
    make, theirs = VARIABLES[case]
    sampler = make()
    want, drawn = theirs()
    kept = {3: (SQUARE,), 4: (V, SQUARE)}.get(sampler.state, ())

    def ours(normal):
        if sampler.state == 1:
            return [sampler.step(X, None, SCALAR, normal, H, FRICTION)]
        theta, r, auxiliary = sampler.step(X, V, kept, SCALAR, normal, H, FRICTION)
        return [theta, *([np.asarray(r)] if sampler.momentum else []), *auxiliary]

    # devinterp draws in float32, and its noise is scaled there.
    assert distance(ours(drawn), [np.asarray(x).reshape(1) for x in want]) < (1e-6 if case.startswith("devinterp") else 1e-12)
    if case != "sgmcmcjax.badodab":  # whose kernel hears no noise, as its position never moves
        assert distance(ours(1.01 * drawn), [np.asarray(x).reshape(1) for x in want]) > 1e-4


def test_a_preconditioner_of_another_library_is_ours():
    problem = '{"kind": "scalar", "friction": 1, "batches": [{"stiffness": 1, "center": 0, "amplitude": 0, "frequency": 1, "phase": 0}]}'
    theirs = hambench.certify(adapters.sgmcmcjax_psgld(), problem=problem, scheme=["full"], steps=[0.05])[0]["theta^2"]
    # The variance of 5·10⁷ steps of a program in C is 1.1213, with a standard error of 0.0011.
    assert theirs.resolution[0] < 1e-3 and abs(theirs.errors[0] - 0.1213) < 0.0044 + theirs.resolution[0]
    assert theirs.verdict == "refuted"


def test_the_thermostat_of_badodab_follows_the_norm_not_its_square(monkeypatch):
    adapters._sgmcmcjax()
    diffusions = __import__("sgmcmcjax.diffusions", fromlist=["badodab"])

    def variance(d, chains=300, steps=2000):
        """Of θ, over chains of the diffusion itself on N(0, I), after half of the steps; dt = 0.05."""
        begin, (first, second), read = diffusions.badodab(0.05)

        def chain(key, x):
            def step(carry, i):
                state, key = carry
                key, own = jax.random.split(key)
                state = first(i, own, -read(state), state)
                state = second(i, own, -read(state), state)
                return (state, key), (read(state) ** 2).mean()

            return jax.lax.scan(step, (begin(x), key), jax.numpy.arange(steps))[1][steps // 2 :].mean()

        starts = jax.random.normal(jax.random.key(d), (chains, d))
        return float(jax.jit(jax.vmap(chain))(jax.random.split(jax.random.key(100 + d), chains), starts).mean())

    assert abs(variance(4) - 4.65) < 0.25  # eight standard errors; the right one is 1
    # Control: with the square of the norm the temperature is right.
    monkeypatch.setattr(jax.numpy.linalg, "norm", lambda v: (v**2).sum())
    assert abs(variance(4) - 1) < 0.1
