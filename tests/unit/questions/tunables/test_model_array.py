"""Orthogonal arrays of three symbols, and the blocks that are made of them."""

from collections import Counter
from itertools import combinations

import pytest

from scalograph.questions.tunables.model_array import block_rows, n_rotations, orthogonal_array


@pytest.mark.parametrize(("n_factors", "shape"), [(1, (9, 4)), (4, (9, 4)), (13, (27, 13)), (16, (81, 40))])
def test_in_any_two_columns_each_pair_of_symbols_stands_equally_often(n_factors: int, shape: tuple[int, int]) -> None:
    array = orthogonal_array(n_factors)
    assert array.shape == shape and {*array.ravel().tolist()} == {0, 1, 2}
    for a, b in combinations(range(array.shape[1]), 2):
        assert {*Counter(zip(array[:, a].tolist(), array[:, b].tolist(), strict=True)).values()} == {len(array) // 9}


def test_a_block_has_every_pair_of_levels_as_often_as_their_shares_ask() -> None:
    rows = block_rows([3, 2, 3, 2, 5], 0, seed=7)
    assert len(rows) == 27
    for a, b in combinations(range(5), 2):
        own = [Counter(row[j] for row in rows) for j in (a, b)]
        pairs = Counter((row[a], row[b]) for row in rows)
        assert all(pairs[x, y] == own[0][x] * own[1][y] / 27 for x in own[0] for y in own[1])


def test_blocks_try_further_levels_in_turn_and_differ() -> None:
    levels = [3, 2, 5, 4]
    blocks = [block_rows(levels, k, seed=1) for k in range(n_rotations(levels))]
    assert [{row[j] for rows in blocks for row in rows} for j in range(4)] == [{*range(n)} for n in levels]
    assert blocks[0] != blocks[1] and blocks[0] == block_rows(levels, 0, seed=1)
    assert block_rows(levels, 0, seed=2) != blocks[0]
