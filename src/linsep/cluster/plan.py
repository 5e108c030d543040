"""What a fit on a cluster will take: rounds × (compute + reduction), before anything is started.

On paper, for n examples of which nnz numbers are stored, d features, W workers, a network of β bytes and λ seconds a
message, and workers that go through ρ stored numbers a second:

    Newton               8 rounds of  nnz/(Wρ)  +  ⌈log₂ W⌉ (λ + 8d/β), of which 3 add up the Hessian:
                                      nnz/(Wγ) · nnz/2n  +  ⌈log₂ W⌉ 8d²/β
    conjugate gradients  125 rounds of  nnz/(Wρ)  +  2 ⌈log₂ W⌉ (λ + 8d/β)
    local dual solves    100 rounds of  3 nnz/(Wρ)  +  2 ⌈log₂ W⌉ (λ + 8d/β)            (CoCoA: a few passes a round)

A Hessian is γ multiplications a second: every number meets those of its row, nnz/2n on average. With these rates it
costs more than the products of conjugate gradients from about 800 numbers a row on, whatever the network.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Numbers that a thread goes through in a second in a pass, and multiplies and adds in a Hessian: measured on covtype
#: as 1.4e9 and 1.5e10 of a thread alone; two share the memory.
PASS, GRAM = 1e9, 1e10
#: Seconds that a round costs by itself, measured with two workers on one machine: a call of an actor.
OVERHEAD = 0.003
#: Rounds to a gap of 1e-4, as seen: steps of Newton's with a Hessian each, and one look at each point; products with
#: the Hessian by conjugate gradients; rounds of CoCoA as its authors report them for 1e-3 and less.
NEWTON, LOOKS, PRODUCTS, COCOA = 3, 5, 120, 100
#: Bytes that a client has room for: a Hessian of more is not added up.
ROOM = 2e9


@dataclass(frozen=True)
class Estimate:
    """What one method takes.

    Attributes
    ----------
    method : str
    rounds : int
    compute, reduction : float
        Seconds on each worker, and of the network, over all rounds.
    received : float
        Bytes that reach the client.
    """

    method: str
    rounds: int
    compute: float
    reduction: float
    received: float

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.compute + self.reduction + self.rounds * OVERHEAD

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.rounds} rounds, {self.seconds:,.1f} s ({self.compute:,.1f} s compute, "
            f"{self.reduction:,.1f} s network), {self.received / 1e6:,.1f} MB to the client"
        )


@dataclass(frozen=True)
class Plan:
    """Estimates of the methods that there is room for, and the memory that a worker needs.

    Attributes
    ----------
    estimates : tuple of Estimate
        The fastest first.
    memory : float
        Bytes of a worker: its share of the rows, and five numbers of every example.
    """

    estimates: tuple[Estimate, ...]
    memory: float

    @property
    def best(self) -> Estimate:
        """The fastest."""
        return self.estimates[0]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.estimates), f"memory of a worker: {self.memory / 1e9:,.1f} GB"])


def plan(n: float, d: float, nnz: float, workers: int, bandwidth: float = 1.25e9, latency: float = 5e-4) -> Plan:
    """Return what a fit will take, by each method; sizes and seconds are rough, their order is what counts.

    Parameters
    ----------
    n, d : float
        Examples and features.
    nnz : float
        Stored numbers: n·d of dense rows.
    workers : int
        One thread each.
    bandwidth, latency : float
        Bytes a second between two machines, and seconds a message.

    Examples
    --------
    >>> print(plan(1e9, 500, 5e11, 100).best)
    Newton: 8 rounds, ... s (... s compute, ... s network), 6.0 MB to the client
    >>> plan(1e9, 1e7, 1e11, 100).best.method
    'conjugate gradients'
    """
    depth = math.ceil(math.log2(workers)) if workers > 1 else 1
    stored, row = nnz / workers, nnz / n
    one_pass = stored / PASS

    def network(numbers: float) -> float:
        return depth * (latency + 8 * numbers / bandwidth)

    found = [
        Estimate(
            "conjugate gradients",
            PRODUCTS + LOOKS,
            (PRODUCTS + LOOKS) * one_pass,
            (PRODUCTS + LOOKS) * 2 * network(d),
            (PRODUCTS + LOOKS) * 8 * d,
        ),
        Estimate("local dual solves (CoCoA)", COCOA, COCOA * 3 * one_pass, COCOA * 2 * network(d), COCOA * 8 * d),
    ]
    if 8 * d * d <= ROOM:
        compute = LOOKS * one_pass + NEWTON * (one_pass + stored * row / 2 / GRAM)
        reduction = (NEWTON + LOOKS) * network(d) + NEWTON * network(d * d)
        found.append(Estimate("Newton", NEWTON + LOOKS, compute, reduction, NEWTON * 8 * d * d))
    memory = (8 * stored if nnz >= n * d else 12 * stored) + 40 * n / workers
    return Plan(tuple(sorted(found, key=lambda one: one.seconds)), memory)
