"""The workload of the balancing article, in Python's standard library: what `balancing-article.mjs` is timed beside.

1.8 million requests in six balancing policies before ten backends of four workers, one five times slower, at 70 % of
capacity; then 6.2 million leaf calls, of which a fan-out of 100 waits for the slowest, without and with a hedge.
"""

import heapq
import math
import random

SERVERS = 10
WORKERS = 4
MEAN_MS = 10.0


class Server:
    __slots__ = ("mean", "workers", "leaving")

    def __init__(self, mean):
        self.mean = mean
        self.workers = [0.0] * WORKERS
        self.leaving = []

    def held(self, now):
        leaving = self.leaving
        while leaving and leaving[0] <= now:
            heapq.heappop(leaving)
        return len(leaving)

    def take(self, now, chance):
        """Time to the answer; None when it would wait for over a second."""
        free = self.workers[0]
        if free > now + 1000.0:
            return None
        end = (free if free > now else now) + chance.expovariate(1.0 / self.mean)
        heapq.heapreplace(self.workers, end)
        heapq.heappush(self.leaving, end)
        return end - now


def balance(policy, stale, seed, requests=300_000):
    chance = random.Random(seed)
    servers = [Server(MEAN_MS * (5 if i == 0 else 1)) for i in range(SERVERS)]
    rate = 0.7 * sum(WORKERS / s.mean for s in servers)
    board = [0] * SERVERS
    refresh = now = 0.0
    turn = dropped = slow = 0
    took = []
    for _ in range(requests):
        now += chance.expovariate(rate)
        if stale and now >= refresh:
            board = [s.held(now) for s in servers]
            refresh = now + 20.0
        if policy == "round robin":
            at = turn
            turn = (turn + 1) % SERVERS
        elif policy == "random":
            at = chance.randrange(SERVERS)
        elif policy == "least":
            counts = board if stale else [s.held(now) for s in servers]
            low = min(counts)
            at = chance.choice([i for i, c in enumerate(counts) if c == low])
        else:
            a, b = chance.sample(range(SERVERS), 2)
            if stale:
                at = a if board[a] <= board[b] else b
            else:
                at = a if servers[a].held(now) <= servers[b].held(now) else b
        slow += at == 0
        ms = servers[at].take(now, chance)
        if ms is None:
            dropped += 1
        else:
            took.append(ms)
    took.sort()
    rank = lambda q: took[math.ceil(q * len(took)) - 1]
    return rank(0.5), rank(0.99), rank(0.999), dropped / requests, slow / requests


def leaf(chance):
    ms = chance.lognormvariate(1.3, 0.4)
    return ms + chance.uniform(50, 150) if chance.random() < 0.01 else ms


def fan_out(delay, trials=20_000, leaves=100):
    chance = random.Random(11)
    took = []
    extra = 0
    for _ in range(trials):
        worst = 0.0
        for _ in range(leaves):
            ms = leaf(chance)
            if delay is not None and ms > delay:
                extra += 1
                ms = min(ms, delay + leaf(chance))
            if ms > worst:
                worst = ms
        took.append(worst)
    took.sort()
    return took[trials // 2 - 1], took[math.ceil(0.99 * trials) - 1], extra / (trials * leaves)


for name, policy, stale in [
    ("round robin", "round robin", False),
    ("random", "random", False),
    ("least outstanding", "least", False),
    ("least outstanding, stale", "least", True),
    ("two choices", "two choices", False),
    ("two choices, stale", "two choices", True),
]:
    p50, p99, p999, dropped, slow = balance(policy, stale, 3)
    print(f"{name:26} {p50:8.1f} {p99:8.0f} {p999:8.0f} {dropped:8.2%} {slow:6.1%}")

chance = random.Random(5)
sample = sorted(leaf(chance) for _ in range(200_000))
p95 = sample[math.ceil(0.95 * len(sample)) - 1]
for name, delay in [("no hedge", None), ("hedge after p95", p95), ("hedge after 10 ms", 10.0)]:
    p50, p99, extra = fan_out(delay)
    print(f"{name:26} {p50:8.1f} {p99:8.1f} {extra:8.1%}")
