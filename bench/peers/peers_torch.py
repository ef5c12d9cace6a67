"""PyTorch: a module with autograd, and a backward pass written out by hand."""

import ctypes
import math
import sysconfig
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from problem import Array, Problem, orders

torch.set_num_threads(1)
torch.set_flush_denormal(True)

SERIES = {8: 100, 32: 100, 128: 80, 455: 40}


class Layer(nn.Module):
    """A dense layer with the scaling of the neural tangent kernel."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        self.scale = 1 / math.sqrt(inputs)

    def forward(self, x: Tensor) -> Tensor:
        return torch.addmm(self.bias, x, self.weight, alpha=self.scale)


def network(widths: list[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [Layer(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Chain:
    """What the peers share: state, batches, and the leapfrog step."""

    def __init__(self, problem: Problem, size: int, chains: int = 1):
        x, y = problem.batches(size)
        self.count = len(x)
        self.chains = chains
        self.steps = SERIES[size] if chains == 1 else SERIES[size] // 4
        self.order = orders(self.count, self.steps, chains)
        self.x, self.y = torch.from_numpy(x), torch.from_numpy(y)
        shape = (len(problem.theta),) if chains == 1 else (chains, len(problem.theta))
        self.theta = torch.from_numpy(problem.theta).expand(shape).contiguous()
        self.r, self.g, self.xi = (torch.zeros(shape) for _ in range(3))
        h, c = problem.step, problem.friction
        self.h, self.decay, self.noise = h, 1 - h * c, math.sqrt(2 * c * h)

    def leapfrog(self, batch: Array) -> None:
        self.theta.add_(self.r, alpha=self.h / 2)
        self.force(batch)
        self.r.mul_(self.decay).add_(self.g, alpha=-self.h)
        self.r.add_(self.normals(), alpha=self.noise)
        self.theta.add_(self.r, alpha=self.h / 2)

    def normals(self) -> Tensor:
        return self.xi.normal_()

    def force(self, batch: Array) -> None:
        """Leaves the gradient over the chains' batches in g."""
        raise NotImplementedError

    def series(self) -> None:
        for batch in self.order.T:
            self.leapfrog(batch)

    def gradient(self) -> Array:
        self.force(np.zeros(self.chains, int))
        return self.g.reshape(self.chains, -1)[-1].detach().numpy().astype(np.float64)

    def momentum(self) -> Array:
        return self.r.numpy()


class Autograd(Chain):
    """A module whose parameters are views of the flat vector."""

    def __init__(self, problem: Problem, size: int):
        super().__init__(problem, size)
        self.net = network(problem.widths)
        self.factor = 0.5 * self.count / problem.noise_variance
        at = 0
        for p in self.net.parameters():
            part = slice(at, at + p.numel())
            p.data = self.theta[part].view_as(p)
            self.adopt(p, part)
            at = part.stop

    def adopt(self, p: nn.Parameter, part: slice) -> None:
        """What a parameter needs beside its place in theta."""

    def backward(self, k: int) -> None:
        """The data's part of the gradient, added to the parameters'."""
        error = self.net(self.x[k]).squeeze(1) - self.y[k]
        (error.dot(error) * self.factor).backward()


class Eager(Autograd):
    """Updated parameter by parameter, as an optimiser does it."""

    def __init__(self, problem: Problem, size: int):
        self.momenta: list[Tensor] = []
        super().__init__(problem, size)

    def adopt(self, p: nn.Parameter, part: slice) -> None:
        self.momenta.append(torch.zeros_like(p))

    def leapfrog(self, batch: Array) -> None:
        with torch.no_grad():
            for p, r in zip(self.net.parameters(), self.momenta):
                p.add_(r, alpha=self.h / 2)
                p.grad = None
        self.backward(batch[0])
        with torch.no_grad():
            for p, r in zip(self.net.parameters(), self.momenta):
                r.mul_(self.decay).add_(p.grad, alpha=-self.h).add_(p, alpha=-self.h)
                r.add_(torch.randn_like(p), alpha=self.noise)
                p.add_(r, alpha=self.h / 2)

    def gradient(self) -> Array:
        for p in self.net.parameters():
            p.grad = None
        self.backward(0)
        parts = [(p.grad + p.detach()).flatten() for p in self.net.parameters()]
        return torch.cat(parts).numpy().astype(np.float64)

    def momentum(self) -> Array:
        return torch.cat([r.flatten() for r in self.momenta]).numpy()


class EagerFlat(Autograd):
    """Gradients are views of a flat vector too, so that each part of the
    update is one call."""

    def adopt(self, p: nn.Parameter, part: slice) -> None:
        p.grad = self.g[part].view_as(p)

    def force(self, batch: Array) -> None:
        self.g.copy_(self.theta)  # the prior's part
        self.backward(batch[0])


class ByHand(Chain):
    """Backward pass by hand, into buffers that are allocated once.

    Weights and bias of a layer are one matrix [inputs + 1, outputs] in theta,
    the bias a row against a constant input. The scalings cost nothing: a ReLU
    commutes with them, so they are left out, which makes up for them in the
    constants and at the output. Several chains are batched products."""

    def __init__(self, problem: Problem, size: int, chains: int = 1):
        super().__init__(problem, size, chains)
        lead = () if chains == 1 else (chains,)
        self.product = torch.mm if chains == 1 else torch.bmm
        self.add_product = torch.addmm if chains == 1 else torch.baddbmm
        self.weights, self.gradients, self.inputs = [], [], []
        self.scale = 1.0
        for at, inputs, outputs in problem.layers():
            part = slice(at, at + (inputs + 1) * outputs)
            shape = (*lead, inputs + 1, outputs)
            self.weights.append(self.theta[..., part].view(shape))
            self.gradients.append(self.g[..., part].view(shape))
            self.scale /= math.sqrt(inputs)
            self.inputs.append(torch.full((*lead, size, inputs + 1), 1 / self.scale))
        constant = torch.full((*self.x.shape[:2], 1), math.sqrt(problem.widths[0]))
        self.x = torch.cat([self.x, constant], 2)
        self.y = self.y.unsqueeze(2)
        self.factor = self.scale * self.count / problem.noise_variance

    @torch.inference_mode()
    def series(self) -> None:
        super().series()

    @torch.inference_mode()
    def gradient(self) -> Array:
        return super().gradient()

    def force(self, batch: Array) -> None:
        k = batch[0] if self.chains == 1 else torch.from_numpy(batch)
        self.inputs[0] = self.x[k]
        for w, x, out in zip(self.weights, self.inputs, self.inputs[1:]):
            self.product(x, w, out=out[..., :-1]).relu_()
        output = self.product(self.inputs[-1], self.weights[-1])
        self.backward(output.mul_(self.scale).sub_(self.y[k]))

    def backward(self, delta: Tensor) -> None:
        for layer in reversed(range(len(self.weights))):
            w, x = self.weights[layer], self.inputs[layer]
            self.add_product(w, x.mT, delta, alpha=self.factor, out=self.gradients[layer])
            if layer > 0:
                back = self.product(delta, w[..., :-1, :].mT)
                delta = torch.ops.aten.threshold_backward(back, x[..., :-1], 0)


class ByHandMKL(ByHand):
    """The same with normals from MKL's vector statistics: the generator ARS-5
    and inversion, the fastest pair of those that it has."""

    ARS5, INVERSION = 15 << 20, 2  # VSL_BRNG_ARS5, VSL_RNG_METHOD_GAUSSIAN_ICDF

    def __init__(self, problem: Problem, size: int, chains: int = 1):
        super().__init__(problem, size, chains)
        folder = Path(sysconfig.get_path("data")) / "lib"
        self.mkl = ctypes.CDLL(str(next(folder.glob("libmkl_rt.so.*"))))
        self.stream = ctypes.c_void_p()
        if self.mkl.vslNewStream(ctypes.byref(self.stream), self.ARS5, 1) != 0:
            raise OSError("MKL has no stream of ARS-5 here")
        to = ctypes.c_void_p(self.xi.data_ptr())
        of = ctypes.c_float(0), ctypes.c_float(1)
        self.arguments = self.INVERSION, self.stream, self.xi.numel(), to, *of

    def normals(self) -> Tensor:
        if self.mkl.vsRngGaussian(*self.arguments) != 0:
            raise OSError("MKL made no normals")
        return self.xi


class Compiled(Chain):
    """The whole step but its normals, by torch.compile."""

    def __init__(self, problem: Problem, size: int):
        super().__init__(problem, size)
        self.layers = problem.layers()
        self.factor = self.count / problem.noise_variance
        options = {"cpp_wrapper": True}
        self.compiled = torch.compile(self.step, fullgraph=True, dynamic=False, options=options)

    @torch.inference_mode()
    def leapfrog(self, batch: Array) -> None:
        k = batch[0]
        self.compiled(self.theta, self.r, self.x[k], self.y[k], self.xi.normal_())

    @torch.inference_mode()
    def gradient(self) -> Array:
        g = self.potential_gradient(self.theta, self.x[0], self.y[0])
        return g.numpy().astype(np.float64)

    def step(self, theta: Tensor, r: Tensor, x: Tensor, y: Tensor, xi: Tensor) -> None:
        half = theta + self.h / 2 * r
        g = self.potential_gradient(half, x, y)
        r.copy_(self.decay * r - self.h * g + self.noise * xi)
        theta.copy_(half + self.h / 2 * r)

    def potential_gradient(self, theta: Tensor, x: Tensor, y: Tensor) -> Tensor:
        inputs, weights = [x], []
        for at, m, n in self.layers:
            w, b = theta[at : at + m * n].view(m, n), theta[at + m * n : at + (m + 1) * n]
            weights.append(w)
            inputs.append(torch.relu(torch.addmm(b, inputs[-1], w, alpha=1 / math.sqrt(m))))
            last = torch.addmm(b, inputs[-2], w, alpha=1 / math.sqrt(m))
        delta = self.factor * (last - y.unsqueeze(1))
        parts: list[Tensor] = []
        for w, inp in zip(reversed(weights), reversed(inputs[:-1])):
            scaled = delta / math.sqrt(len(w))
            parts[:0] = [(inp.T @ scaled).flatten(), delta.sum(0)]
            delta = (scaled @ w.T) * (inp > 0)
        return torch.cat(parts) + theta


PEERS = {
    "torch-eager": Eager,
    "torch-eager-flat": EagerFlat,
    "torch-by-hand": ByHand,
    "torch-compile": Compiled,
    "torch-by-hand-mkl": ByHandMKL,
    "torch-by-hand-16": lambda problem, size: ByHand(problem, size, chains=16),
    "torch-by-hand-16-mkl": lambda problem, size: ByHandMKL(problem, size, chains=16),
}
