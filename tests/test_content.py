"""Content by reference: whatever is done with it, its bytes are those of plain bytes."""

import hashlib
from functools import reduce

import pytest

from sim.content import BLOCK, LINE, Rope, Slice, blocks, flipped, generated, join, read, same, sha256

WHOLE = read(generated("seed", 3 * BLOCK + 5))
PARTS = [generated("seed", 300), b"plain", b"", generated("other", 70), b"!", b"?"]


def test_the_same_seed_gives_the_same_text_for_ever():
    assert (
        sha256(generated("seed", 1_000_000))
        == "91acfbc912b23a3ed0719406a21e84fa538e113e025a0caed32ca814cb49a5db"
    )
    assert read(generated("seed", 100)) == WHOLE[:100]


def test_no_two_lines_of_a_seed_are_alike_and_all_are_text():
    lines = WHOLE[: 3 * BLOCK].split(b"\n")[:-1]

    assert len(lines) == len(set(lines)) == 3 * BLOCK // LINE
    assert WHOLE.isascii()


@pytest.mark.parametrize("start", [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 7])
@pytest.mark.parametrize("length", [0, 1, 64, BLOCK, BLOCK + 1])
def test_a_slice_holds_the_bytes_of_its_place(start, length):
    cut = generated("seed", len(WHOLE))[start : start + length]

    told = WHOLE[start : start + length]
    assert (len(cut), read(cut)) == (len(told), told)


def test_a_rope_is_joined_cut_and_read_as_bytes_are():
    rope = reduce(join, PARTS)
    plain = b"".join(map(read, PARTS))

    assert read(rope) == plain
    assert len(rope) == len(plain)
    for start in range(0, len(plain), 7):
        for end in range(start, len(plain), 31):
            assert read(rope[start:end]) == plain[start:end]
    assert read(rope[-3:]) == plain[-3:]


def test_neighbours_become_one_piece_and_plain_bytes_stay_plain():
    whole = generated("seed", 500)

    assert join(whole[:200], whole[200:]) == whole == Rope((Slice("seed", 0, 500),))
    assert join(b"a", b"b") == b"ab"
    assert join(whole, b"ab")[500:] == b"ab"
    assert join(whole[:200], whole[201:]) == Rope((Slice("seed", 0, 200), Slice("seed", 201, 299)))


@pytest.mark.parametrize("content", [generated("seed", 500), b"plain", join(generated("seed", 9), b"end")])
def test_a_changed_byte_changes_every_digest(content):
    changed = flipped(content)

    assert len(changed) == len(content)
    assert read(changed)[:-1] == read(content)[:-1]
    assert read(changed)[-1] == read(content)[-1] ^ 1
    assert sha256(changed) != sha256(content)
    assert not same(changed, content)
    assert same(flipped(changed), content)
    assert flipped(b"") == b""


def test_a_digest_is_that_of_the_bytes_and_no_block_is_larger_than_a_block():
    content = join(b"head", generated("seed", 5 * BLOCK))

    assert sha256(content) == hashlib.sha256(b"head" + read(generated("seed", 5 * BLOCK))).hexdigest()
    assert max(map(len, blocks(content))) <= BLOCK
