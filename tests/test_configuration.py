"""Settings: where they are read from, which holds, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.commands import ROOT, run
from triplewire import configuration
from triplewire.configuration import Configuration, as_markdown, configured, row
from triplewire.errors import UsageError

PAGE = ROOT / "docs/reference/configuration.md"


def written(folder: Path, text: str) -> Path:
    path = folder / "triplewire.toml"
    path.write_text(text)
    return path


def test_the_page_shows_the_table() -> None:
    assert as_markdown() in PAGE.read_text(), f"put this into {PAGE}:\n{as_markdown()}"


def test_the_file_that_the_page_shows_is_understood(tmp_path: Path) -> None:
    shown = PAGE.read_text().split("```toml\n")[1].split("```")[0]
    found = configured(file=written(tmp_path, shown), environment={})
    assert (found.home, found.port, found.allow_network) == (Path("/var/lib/triplewire"), 9000, ("10.0.0.0/8",))


def test_options_hold_before_the_environment_before_the_file_before_the_default(tmp_path: Path) -> None:
    file = written(tmp_path, "port = 1\nhost = 'file'\n")
    assert configured({}, None, {}) == Configuration()
    assert configured({}, file, {}).port == 1
    assert configured({}, None, {"TRIPLEWIRE_CONFIG": str(file)}).host == "file"
    both = configured({}, file, {"TRIPLEWIRE_PORT": "2", "PORT": "3"})
    assert (both.port, both.host) == (2, "file")
    assert configured({"port": "4"}, file, {"TRIPLEWIRE_PORT": "2"}).port == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", "there is no setting 'prot'. Did you mean port?"),
        ("port = 70000", "port should be a whole number (0 to 65535), not 70000"),
        ("port = true", "port should be a whole number (0 to 65535), not true"),
        ("accept-proposals = 'perhaps'", "accept-proposals should be true or false, not 'perhaps'"),
        ("allow-network = [1]", "allow-network should be a list of texts, not [1]"),
        ("[allow]\nnetwrk = ''", "there is no setting 'allow-netwrk'. Did you mean allow-network?"),
        ("port = ", "Invalid value"),
        ("log = 1979-05-27", "log should be a text (text, json), not 1979-05-27"),
        ("smtp = 'x'", "there is no setting 'smtp'. There are smtp-host, smtp-port"),
        ("smtp-password-file = 5", "smtp-password-file should be the path of a file, not 5"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as raised:
        configured(file=written(tmp_path, text), environment={})
    assert said in str(raised.value)


def test_an_unknown_variable_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"there is no setting TRIPLEWIRE_PRT\. Did you mean TRIPLEWIRE_PORT\?"):
        configured(environment={"TRIPLEWIRE_PRT": "1"})


def test_several_values_come_from_a_list_from_commas_or_from_repeated_options(tmp_path: Path) -> None:
    file = written(tmp_path, "[allow]\nnetwork = ['a', 'b']")
    assert configured(file=file, environment={}).allow_network == ("a", "b")
    assert configured(environment={"TRIPLEWIRE_ALLOW_NETWORK": "a, b"}).allow_network == ("a", "b")
    assert configured({"allow_network": ["a", "b"]}, environment={}).allow_network == ("a", "b")


@dataclass(frozen=True)
class WithSecret:
    smtp_password: str | None = row(None, "The password.", secret=True)


def test_a_secret_is_read_from_a_file_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "Configuration", WithSecret)
    (tmp_path / "password").write_text("swordfish\n")
    found: Any = configured(environment={"TRIPLEWIRE_SMTP_PASSWORD_FILE": str(tmp_path / "password")})
    assert found.smtp_password == "swordfish"
    assert "swordfish" not in repr(found)
    with pytest.raises(UsageError, match="there is no setting TRIPLEWIRE_SMTP_PASSWORD"):
        configured(environment={"TRIPLEWIRE_SMTP_PASSWORD": "swordfish"})
    with pytest.raises(UsageError, match="TRIPLEWIRE_SMTP_PASSWORD_FILE: No such file"):
        configured(environment={"TRIPLEWIRE_SMTP_PASSWORD_FILE": str(tmp_path / "none")})


def test_the_command_line_tells_what_is_wrong_with_an_option() -> None:
    found = run("serve", "--port", "many")
    assert found.returncode == 2
    assert "--port should be a whole number (0 to 65535), not 'many'" in found.stderr
