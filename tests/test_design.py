"""The design as a value: its order, its catalogue of rules, its identity."""

from __future__ import annotations

import re

from sim.checks import order as judged
from sim.design import SCALED, SEED, Limits, lease
from sim.design.design import Design, catalogue
from sim.design.order import ORDER

SENTENCE = """acquire/register, persist assistant and intent/checkpoint, execute,
durable capture, durable receipt, model result, checkpoint resolution, exact ACK,
next inference, result consumption, release"""
"""003 Identity, admission and model history, behind "The order is:"."""


def test_the_order_is_the_seeds_sentence():
    words = re.sub(
        r"persist | and |/|\n", lambda found: ", " if found[0] in (" and ", "/") else " ", SENTENCE
    )
    steps = [" ".join(step.split()) for step in words.split(",")]

    assert tuple(steps) == ORDER


def test_design_and_judge_have_each_their_own_copy_of_the_order():
    assert judged.ORDER == ORDER
    assert judged.__file__ != __file__


def test_every_rule_is_cited_and_says_what_goes_wrong_without_it():
    for name, rule in catalogue().items():
        assert name == rule.name
        assert re.match(r"(000|003|behaviour) ?", rule.cites), f"{name} cites {rule.cites!r}"
        assert rule.without.strip(), name
        assert rule.says.endswith("."), f"{name} says {rule.says!r}"


def test_the_catalogue_names_each_rule_once():
    assert len(catalogue()) == len({id(rule) for rule in catalogue().values()}) > 100


def test_equal_designs_have_equal_digests():
    assert SEED.digest() == Design().digest()


def test_a_limit_a_rule_and_nothing_else_change_the_digest():
    other = SEED.replacing(lease.may_claim, lambda current, claimant: True)

    assert (
        len({SEED.digest(), SCALED.digest(), other.digest(), Design(limits=Limits(rounds=15)).digest()}) == 4
    )
    assert Design(name="another name").digest() == SEED.digest()


def test_replacing_a_rule_twice_keeps_the_last_answer():
    once = SEED.replacing(lease.may_claim, lambda current, claimant: True)
    never = once.replacing(lease.may_claim, lambda current, claimant: False)

    assert dict(never.replaced)["lease.may_claim"]("", "x") is False
    assert len(never.replaced) == 1
