"""How a ratio of two sides is told from chance: pairs of rounds, Wilcoxon's signed ranks, no assumption about the noise."""

import math
from statistics import median


def rank_counts(rounds):
    """Of all 2^rounds ways to put signs, how many have each sum of positive ranks."""
    counts = [1]
    for rank in range(1, rounds + 1):
        more = counts + [0] * rank
        for total, ways in enumerate(counts):
            more[total + rank] += ways
        counts = more
    return counts


def cut_of(rounds, confidence):
    """How many of the sorted pairwise means to leave away at each end; None: too few rounds for that confidence."""
    allowed, so_far = (1 - confidence) / 2 * 2**rounds, 0
    for total, ways in enumerate(rank_counts(rounds)):
        so_far += ways
        if so_far > allowed:
            return total or None
    return None


def ratio_of(ours, theirs, confidence):
    """(ratio theirs/ours, lowest, highest) of paired rounds: the Hodges-Lehmann estimate on logarithms and its interval.
    Without an interval (None, None) where the rounds are too few."""
    logs = [math.log(b / a) for a, b in zip(ours, theirs)]
    means = sorted((x + y) / 2 for i, x in enumerate(logs) for y in logs[i:])
    cut = cut_of(len(logs), confidence)
    low, high = (means[cut - 1], means[-cut]) if cut else (None, None)
    return math.exp(median(means)), cut and math.exp(low), cut and math.exp(high)


def least_rounds(confidence):
    rounds = 1
    while cut_of(rounds, confidence) is None:
        rounds += 1
    return rounds
