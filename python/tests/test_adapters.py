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
