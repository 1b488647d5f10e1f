"""`triplewire user add | list` and `triplewire token add | list | revoke`."""

import io
import json
from contextlib import closing

import pytest

from tests.commands import run
from triplewire.store import Store, store_url


def said(*arguments, home, status=0):
    found = run(*arguments, "--home", home)
    assert found.returncode == status, found.stderr
    return found.stdout


def test_a_token_is_shown_once_and_only_its_hash_is_kept(tmp_path):
    user = json.loads(said("user", "add", "ann", "--scope", "publish", home=tmp_path))
    assert (user["name"], user["scopes"]) == ("ann", ["publish"])
    text = said("token", "add", "ann", "--name", "laptop", "--days", 30, home=tmp_path).strip()
    assert text.startswith("tw_") and len(text) > 40
    with closing(Store(store_url(tmp_path))) as store:
        found = store.users.bearer(text)
    assert (found.name, found.scopes) == ("ann", {"publish"})
    assert text.encode() not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert text not in said("token", "list", "--json", home=tmp_path)


def test_a_token_that_is_revoked_is_listed_so_and_good_for_nothing(tmp_path):
    said("user", "add", "ann", "--admin", home=tmp_path)
    text = said("token", "add", "ann", home=tmp_path).strip()
    [before] = map(json.loads, said("token", "list", "ann", "--json", home=tmp_path).splitlines())
    assert (before["scopes"], before["revoked"]) == (["admin", "publish", "subscribe"], None)
    assert json.loads(said("token", "revoke", 1, home=tmp_path))["revoked"]
    assert "revoked" in said("token", "list", home=tmp_path)
    with closing(Store(store_url(tmp_path))) as store:
        assert store.users.bearer(text) is None


def test_a_password_is_read_and_its_hash_is_kept(tmp_path, monkeypatch):
    said("user", "add", "ann", home=tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("too short\n"))
    said("user", "password", "ann", home=tmp_path, status=2)
    monkeypatch.setattr("sys.stdin", io.StringIO("correct horse\n"))
    said("user", "password", "ann", home=tmp_path)
    with closing(Store(store_url(tmp_path))) as store:
        assert store.users.with_password("ann", "correct horse").name == "ann"
    assert b"correct horse" not in (tmp_path / "triplewire.db").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["user", "add", "ann"], "already"),
        (["user", "add", " "], "name"),
        (["user", "add", "bob", "--scope", "publich"], "publish"),
        (["token", "add", "bob"], "no user 'bob'"),
        (["token", "add", "ann", "--scope", "admin"], "may not admin"),
        (["token", "revoke", "7"], "no token 7"),
    ],
)
def test_a_mistake_is_told(tmp_path, arguments, words):
    said("user", "add", "ann", home=tmp_path)
    found = run(*arguments, "--home", tmp_path)
    assert (found.returncode, words in found.stderr) == (2, True), found.stderr


@pytest.mark.parametrize("reached", [("--host", "0.0.0.0"), ("--public-url", "https://tw.example.org")])
def test_a_broker_that_others_can_reach_is_not_started_without_users(tmp_path, reached):
    found = run("serve", *reached, "--port", "0", "--home", tmp_path)
    assert found.returncode == 2
    assert f"on {reached[1]} others can reach the broker" in found.stderr
    assert "`triplewire user add NAME --admin --home" in found.stderr
