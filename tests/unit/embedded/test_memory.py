import os

from tasks_app.embedded.memory import usable_memory

WHOLE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_a_container_counts_what_it_may_use_and_not_what_the_machine_has(tmp_path):
    limit = tmp_path / "memory.max"
    limit.write_text("100000000\n")

    assert usable_memory((tmp_path / "not-there", limit)) == 100_000_000


def test_without_a_limit_it_is_the_memory_of_the_machine(tmp_path):
    for number, text in enumerate(["max\n", f"{2**63 - 4096}\n"]):  # the second is how version 1 says "no limit"
        (tmp_path / str(number)).write_text(text)

    assert usable_memory((tmp_path / "0", tmp_path / "1")) == WHOLE
