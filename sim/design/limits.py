"""The limits and time constants of the design. Sizes are bytes, times virtual milliseconds."""

from __future__ import annotations

import msgspec

KIB, MIB = 1024, 1024 * 1024


class Limits(msgspec.Struct, frozen=True):
    """The real values by default; a sweep may scale sizes down, so that small output crosses every boundary."""

    rounds: int = 16
    """Model requests a turn."""
    prompt: int = 64 * KIB
    history_record: int = 64 * KIB
    """A serialized journal record, and an inline resource (003 Problem and scope)."""
    call_envelope: int = 64 * KIB
    """Ids and payload of one call as the broker gets them."""
    segment: int = MIB
    """One captured segment (003 Ownership and transport)."""
    segments_per_page: int = 512
    pages: int = 64
    page: int = 256 * KIB
    manifest: int = 64 * KIB
    content: int = MIB
    """One published piece of tool-result content (003 Durable output storage)."""
    reread: int = 16 * MIB
    """One range of the re-read at admission."""
    write: int = 64 * KIB
    """One raw write of the worker proxy."""
    process_buffer: int = 64 * KIB
    """The tail of the output from which the preview is cut (003 Ownership and transport)."""
    pipe: int = 64 * KIB
    """What one operating-system pipe holds before its writer waits."""

    request_timeout: int = 30_000
    commit_sends: int = 3
    commit_pause: int = 250
    prepare_sends: int = 2
    ack_sends: int = 2
    settle_writes: int = 2
    read_sends: int = 3
    reconcile_looks: int = 3
    """Consecutive lost looks at a worker's execution before the broker calls it unknown."""
    writer_lease: int = 60_000
    status_poll: int = 50
    worker_poll: int = 100
    busy_poll: int = 250
    """Between two tries at a busy Workspace, where a policy waits for one (behaviour §1.10, newer code)."""
    shell_timeout: int = 120_000
    shell_timeout_max: int = 600_000
    window_slack: int = 60_000
    """Added to a Shell's own timeout to give the observation window."""
    worker_window: int = 1_800_000
    """How long the broker observes a worker's execution: 30 minutes."""
