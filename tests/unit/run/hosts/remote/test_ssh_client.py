"""What is handed to another machine's shell: words that stay words, and names that are no options."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalograph.errors import HostError
from scalograph.run.hosts.remote import ssh_client
from scalograph.run.hosts.remote.ssh_client import call, is_name, quote_words, script, ssh_argv
from tests.kit.refusals import refuses
from tests.unit.run.hosts.remote.far_machine import stand_in

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12), max_size=4)


@settings(max_examples=25)
@given(WORDS)
def test_a_shell_reads_each_word_as_it_is(words: list[str]) -> None:
    argv = ["sh", "-c", quote_words(["printf", "%s\\0", *words])]
    read = subprocess.run(argv, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert read == (words or [""])


def test_words_are_data_and_nothing_is_asked_or_forwarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch)
    assert call("there", script('printf %s "$1"', "$(id); `id` 'x'")) == "$(id); `id` 'x'"
    argv = ssh_argv("me@there", ["true"])
    assert argv[-3:] == ("--", "me@there", "true")
    assert {"BatchMode=yes", "ClearAllForwardings=yes", "ForwardAgent=no"} <= {*argv}
    sent = bytes(range(256)) * 4096
    said = call("there", ["od", "-An", "-v", "-tx1"], lambda stream: stream.write(sent))
    assert bytes.fromhex(said) == sent


@pytest.mark.parametrize("text", ["-oProxyCommand=x", "a;b", "$(id)", "a b", "", "a" * 300, "a/b"])
def test_what_names_no_machine(text: str) -> None:
    assert not is_name(text)


def test_what_has_no_end_is_too_much_or_has_no_client_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch)
    refuses(HostError, r"more than \d+ bytes, expected less", call, "there", ["yes"])
    with pytest.raises(HostError, match=r"machine there: what is sent was not read for 0.2 s"):
        call("there", ["sleep", "2"], lambda stream: stream.write(bytes(1 << 20)), limit_s=0.2)
    monkeypatch.setattr(ssh_client, "_SEND_S", -1.0)
    refuses(HostError, r"or not in -1 s", call, "there", ["cat"], lambda stream: stream.write(b"late"))
    with pytest.raises(HostError, match="machine there: the end, expected"):
        call("there", script("yes | head -c 300000 >&2; echo; echo the end >&2; exit 3"))
    refuses(HostError, r"machine there: no answer in 0.2 s", call, "there", ["sleep", "20"], limit_s=0.2)
    monkeypatch.setattr(ssh_client, "_MOST_BYTES", 10)
    refuses(HostError, "more than 10 bytes", call, "there", ["echo", "0123456789"])
    monkeypatch.setattr(ssh_client, "_TIED", ("no-such-program",))
    monkeypatch.setenv("PATH", str(tmp_path))
    refuses(HostError, r"ssh: No such file .*; apt-get install openssh-client", call, "there", ["true"])
