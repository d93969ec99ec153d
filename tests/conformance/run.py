"""What conformance costs a detour through the hub: the official suite against two reference servers, direct and behind a hub.

Usage: run.py [--only LABEL ...] [--results FOLDER]     prints Markdown; `make conformance` runs it

The hub stands in front of the same reference, on Python's SDK, over each kind of upstream, once with a copy of the server for each session
and once with one for all; and in front of a reference on the official TypeScript SDK. Besides: in front of a reference of one era, for
clients of the other; at the endpoint of all servers together; and the other way round, where the hub is what reaches the suite's servers. A
scenario that is lost is tried once more, alone, with a hub of its own, since the suite has short waits and leaves calls open.
Exit code 1: with a copy for each session something passes direct and fails behind the hub,
or a client scenario fails.
"""

import argparse
import shlex
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.conformance.suite import WIRES, Score, checks_lost, lost, run_client, run_suite
from tests.conformance.targets import BESIDES, DIRECTS, HUBS, Target, running

CLIENT = shlex.join([sys.executable, str(Path(__file__).with_name("hub_as_client.py"))])
AT_A_TIME = 2  # hubs; they wait for the suite more than they work
TRIED_AGAIN = 12  # scenarios of one wire; where more are lost, another try tells nothing
Scores = dict[str, dict[str, Score]]
"""By wire, then by scenario."""


def score(target: Target, folder: Path, direct: Scores | None = None) -> Scores:
    """Runs a target's wires; what `direct` passed and this lost is tried again."""
    with running(target) as url:
        scores = {wire: run_suite(url, wire, folder / wire) for wire in target.wires}
    for wire in target.wires:
        again = lost(direct[wire], scores[wire]) if direct else []
        for name in again[:TRIED_AGAIN]:
            with running(target) as url:
                scores[wire] |= run_suite(url, wire, folder / f"{wire} again" / name, name)
        say(f"  {target.label}, {wire}: {scenarios(scores[wire])} scenarios")
    return scores


def scenarios(found: Mapping[str, Score]) -> str:
    return f"{sum(each.is_passed for each in found.values())}/{len(found)}"


def checks(found: Mapping[str, Score]) -> str:
    return f"{sum(len(each.passed) for each in found.values())} / {sum(len(each.failures) for each in found.values())}"


def both(scores: Scores) -> dict[str, Score]:
    return {f"{wire} {name}": each for wire in WIRES for name, each in scores[wire].items()}


def table(results: Mapping[Target, Scores]) -> list[str]:
    together = {target: both(scores) for target, scores in results.items()}
    rows = [[wire, *(scenarios(scores[wire]) for scores in results.values())] for wire in WIRES]
    rows.append(["both", *map(scenarios, together.values())])
    rows.append(["checks passed / failed", *map(checks, together.values())])
    head = ["scenarios passed", *(target.label for target in results)]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


def losses(target: Target, scores: Scores, direct: Scores) -> list[str]:
    """One line for each check that failed in a scenario which is lost, with the suite's own words."""
    lines = []
    for wire, found in scores.items():
        for name in lost(direct[wire], found):
            failures = found[name].failures if name in found else ("the scenario did not run",)
            lines += [f"- {target.label}, {wire}, {name}: {failure}" for failure in failures]
    return lines


def weaker(target: Target, scores: Scores, direct: Scores) -> list[str]:
    """One line for each check that passed direct and is only a remark here; its scenario passes all the same."""
    lines = []
    for wire, found in scores.items():
        for name, score in found.items():
            if score.is_passed and name in direct[wire]:
                gone = checks_lost(direct[wire][name], score)
                lines += [f"- {target.label}, {wire}, {name}: {check} is not confirmed" for check in gone]
    return lines


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def run(hubs: list[Target], folder: Path) -> int:
    directs = {target.sdk: (target, score(target, folder / target.label)) for target in DIRECTS}
    direct = {sdk: scores for sdk, (_, scores) in directs.items()}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        scored = {hub: pool.submit(score, hub, folder / hub.label, direct[hub.sdk]) for hub in (*hubs, *BESIDES)}
        used = {wire: pool.submit(run_client, CLIENT, wire, folder / "client" / wire) for wire in WIRES}
    found = {hub: scored[hub].result() for hub in hubs}
    results = {target: each for sdk, of in directs.items() for target, each in (of, *((hub, found[hub]) for hub in hubs if hub.sdk == sdk))}
    others = {hub: scored[hub].result() for hub in BESIDES}
    as_client = {wire: each.result() for wire, each in used.items()}
    for wire, used_for in as_client.items():
        if again := [name for name, each in used_for.items() if not each.is_passed]:
            say(f"  the hub as a client, {wire}, tried again: {', '.join(failed(wire, used_for))}")
            used_for |= run_client(CLIENT, wire, folder / "client again" / wire, again)
    lost_by = {hub: losses(hub, results[hub], direct[hub.sdk]) for hub in hubs}
    failed_by_client = [line for wire in WIRES for line in failed(wire, as_client[wire])]
    print("\n".join(table(results)))
    report("Besides:", [*(besides(hub.label, scores) for hub, scores in others.items()), besides("the hub as a client", as_client)])
    report("Lost against direct:", [line for lines in lost_by.values() for line in lines])
    report("Of these are lost:", [line for hub, scores in others.items() for line in losses(hub, scores, direct[hub.sdk])])
    report("Passed, but for less:", [line for hub in hubs for line in weaker(hub, results[hub], direct[hub.sdk])])
    report("The hub as a client fails:", failed_by_client)
    own = [line for target, scores in directs.values() for wire in WIRES for line in failed(f"{target.label}, {wire}", scores[wire])]
    report("The reference itself fails:", own)
    return int(any(lost_by[hub] for hub in hubs if hub.must_equal_direct) or bool(failed_by_client))


def besides(what: str, scores: Scores) -> str:
    return f"- {what}: {', '.join(f'{scenarios(found)} ({wire})' for wire, found in scores.items())}"


def failed(wire: str, found: Mapping[str, Score]) -> list[str]:
    return [f"- {wire}, {name}: {failure}" for name, each in found.items() for failure in each.failures]


def report(title: str, lines: list[str]) -> None:
    if lines:
        print("", title, "", *lines, sep="\n")


def main() -> int:
    hubs = {hub.label: hub for hub in HUBS}
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=hubs, default=list(hubs), help="these columns alone, beside direct")
    parser.add_argument("--results", type=Path, help="keep the suite's own results in this folder")
    options = parser.parse_args()
    chosen = [hubs[label] for label in options.only]
    if options.results:
        return run(chosen, options.results)
    with tempfile.TemporaryDirectory() as folder:
        return run(chosen, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
