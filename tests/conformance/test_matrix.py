"""Clients on two SDKs, servers on two SDKs, and the hub between them: what a client observes is what it observes directly."""

from collections.abc import Mapping

import pytest
from tests.conformance.conftest import MATRIX
from tests.conformance.matrix.cells import ERAS, WAYS, Cell
from tests.conformance.matrix.comparison import Compared, table
from tests.conformance.matrix.run import CLIENTS, run
from tests.conformance.targets import REFERENCES

Matrix = Mapping[Cell, Compared]
TIMEOUT_S = 900  # for the whole of it, on a machine that is busy; about two minutes on a quiet one


@pytest.fixture(scope="module")
def matrix(request: pytest.FixtureRequest) -> Matrix:
    compared = run(CLIENTS)
    request.config.stash[MATRIX] = table(compared)
    return compared


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("server", REFERENCES)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_observes_through_the_hub_what_it_observes_directly(matrix: Matrix, client: str, server: str, era: str, way: str) -> None:
    cells = [each for cell, each in matrix.items() if cell[:3] == (client, server, era) and cell.way == way]
    assert cells
    assert not [line for each in cells for line in each.lines]
