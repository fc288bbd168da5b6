"""The mutants fit the code as it is; `python -m tests.requirements.mutate` runs the tests with each of them."""

from tests.requirements.mutate import HERE, all_mutants, problem_of


def test_every_mutant_can_be_made():
    assert {one: problem for one in all_mutants() if (problem := problem_of(one))} == {}


def test_no_document_has_a_mutant_twice():
    made = [(one.requirement.split()[0], one.path, one.old, one.new) for one in all_mutants()]

    assert sorted(made) == sorted(set(made))


def test_every_mutant_names_a_document_that_has_tests():
    for one in all_mutants():
        document, _, section = one.requirement.partition(" ")
        assert section.startswith("§") and list(HERE.glob(f"test_{document}*.py")), one
