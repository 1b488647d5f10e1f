"""The standing job: one Structured Streaming query from the event log to notifications and dead letters."""

from __future__ import annotations

import fcntl
import gc
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import cache, partial
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from triplewire.errors import EventError, StoreAwayError, UsageError
from triplewire.lift.lifting import DEFAULT, Lifting, load_lifting
from triplewire.pipeline import results, stage
from triplewire.pipeline.archive import Archive, lift_and_keep
from triplewire.pipeline.checkpoint import LOCK, is_marked, mark_format, mark_store, set_aside, set_aside_if_unfit
from triplewire.pipeline.disk import full_disk_named
from triplewire.pipeline.intake import start_intake
from triplewire.pipeline.outlet import start_outlet
from triplewire.pipeline.report import STAGES, WORK, Reporter, counting, timed, timing
from triplewire.pipeline.shipping import Sender, delivered, is_elsewhere
from triplewire.pipeline.snapshots import Keeper, Snapshots
from triplewire.pipeline.society import Society
from triplewire.pipeline.source import EventLog, open_store
from triplewire.pipeline.standing import Standing
from triplewire.store import DeadLetter, Outcome, Store, StoredLapse, patiently

NAME = "triplewire"
"""The name of the query, in Spark's pages and reports."""

BATCH = 4000
"""How many events of a backlog are taken at a time."""

GLANCE, PATIENCE = 1.0, 2.0
"""Seconds from one look at query and store to the next, and for a batch to end when the stream is to."""
SETTLING = 10
"""At every so many looks the archive is looked after."""


def run_stream(
    session: Callable[[], SparkSession],
    store: str,
    checkpoint: Path,
    until: int | None = None,
    parent: int | None = None,
    lifting: Path | None = None,
    archive: Path | None = None,
    source: str | None = None,
    after: int | datetime | None = None,
    target: str | None = None,
) -> None:
    """Match events as they arrive, until asked to end by a signal, or the log up to a position is done.

    The session, with the settings of a ``STREAM``, is asked for when it is needed, and ended.

    Events of a ``source``, a folder or a topic, are put into the log as they come, and notifications are sent to a
    topic, the ``target``. ``after`` replays the log from a position or a time on: what is known already stays as it is,
    and what was missing is added. What is lifted is kept in an ``archive``.

    ``lifting`` is a folder of settings, read here once: every worker has the same, and a change of it waits for the
    next start.
    With a ``parent``, it also ends once that is no longer the process that started it, so that no broker killed
    hard leaves a pipeline behind.
    """
    read = load_lifting(lifting)
    written = [Path(store.removeprefix("sqlite:///")).parent, checkpoint, _snapshots(checkpoint), archive or checkpoint]
    with full_disk_named(*written), _alone(checkpoint):
        _reach(store, checkpoint)
        spark = session()
        try:
            signals = _Signals()
            sender = _sender(spark, store, checkpoint)
            Thread(target=_wake_workers, args=(spark, store, checkpoint), daemon=True).start()
            spark.streams.addListener(Reporter(checkpoint.absolute().parent, Store(store, patient=True), NAME))
            queries = [start_stream(spark, store, checkpoint, lifting=read, archive=archive, after=after)]
            if source is not None:
                queries.append(start_intake(spark, source, store, checkpoint.with_name("intake"), read))
            if target is not None:
                queries.append(start_outlet(spark, target, store, checkpoint.with_name("outlet")))
            with closing(_keeper(store, checkpoint)) as keeper:
                signals.at_work = True
                gc.collect()
                gc.freeze()  # a batch's rows set the collector off: spare it what was loaded here
                _wait(queries, Store(store, patient=True), until, parent, signals, archive, (keeper.look, sender.look))
            for query in queries:
                _stop(query)
        finally:
            spark.stop()


def start_stream(
    spark: SparkSession,
    store: str,
    checkpoint: Path,
    batch: int = BATCH,
    lifting: Lifting = DEFAULT,
    archive: Path | None = None,
    after: int | datetime | None = None,
) -> StreamingQuery:
    """Start the query. What it has done is known to the checkpoint, and to the store, which holds each result once."""
    opened = Store(store, patient=True)
    set_aside_if_unfit(checkpoint, opened)
    options = {"store": store, "batch": str(batch)}
    if after is not None:
        options["after"] = str(_replayed(opened, after))
        set_aside(checkpoint, "is not what a replay goes on from")
    mark_format(checkpoint)
    mark_store(checkpoint, store)
    if archive is not None:
        Archive(archive).begin(opened.last_position())
    spark.dataSource.register(EventLog)
    events = spark.readStream.format(EventLog.name()).options(**options).load()
    kept, report = archive and archive.absolute(), checkpoint.absolute().parent
    snapshots = _snapshots(checkpoint)
    Snapshots(snapshots, opened).drop_unfit()
    work = partial(match_log, store=store, snapshots=snapshots, lifting=lifting, archive=kept, report=report)
    found = events.mapInArrow(work, results.SCHEMA)
    society = Society(opened, lifting)
    write = partial(write_results, store=opened, society=society, report=report)
    writer = found.writeStream.foreachBatch(write)
    return writer.option("checkpointLocation", str(checkpoint.absolute())).queryName(NAME).start()


def _reach(store: str, checkpoint: Path) -> None:
    """Refuse a server that cannot be reached, unless a stream was at work with it: then it will be there again."""
    if store.startswith("postgresql") and not is_marked(checkpoint, store):
        try:
            Store(store).close()
        except StoreAwayError as error:
            raise UsageError(f"the store cannot be reached; is this its address? {error}") from None


def _replayed(store: Store, after: int | datetime) -> int:
    """The position that a replay begins after."""
    position = after if isinstance(after, int) else store.position_before(after)
    if position < (cut := store.cut_position()):
        raise UsageError(f"events are kept from position {cut + 1} on, so a replay begins at --from {cut} or later")
    return position


def _wake_workers(spark: SparkSession, store: str, checkpoint: Path) -> None:
    """Have workers load our modules and the index while the query is being planned, which takes as long."""
    cores = spark.sparkContext.defaultParallelism
    with suppress(Exception):  # whatever it is, the query will tell
        spark.sparkContext.setJobDescription("getting workers ready")
        ready = partial(_be_ready, store=store, snapshots=_snapshots(checkpoint))
        spark.range(0, cores, 1, cores).mapInArrow(ready, "id long").collect()


def _be_ready(batches: Iterable[pa.RecordBatch], store: str, snapshots: Path) -> Iterator[pa.RecordBatch]:
    """Stand at the event that comes next if it is there; else at the last one.

    What is subscribed before an event comes is valid for it, and would not be seen by who stands there already.
    """
    opened = open_store(store)
    _standing(store, snapshots).at(min(opened.pipeline_position() + 1, opened.last_position()))
    yield from batches


def match_log(
    batches: Iterable[pa.RecordBatch],
    store: str,
    snapshots: Path,
    lifting: Lifting,
    archive: Path | None = None,
    report: Path | None = None,
) -> Iterator[pa.RecordBatch]:
    """What comes of a part of the log, as ``stage`` has it, packed."""
    standing = _standing(store, snapshots)
    spent: Counter[str] = Counter()
    with counting(report, WORK, standing.work), counting(report, STAGES, spent):
        lifted = lift_and_keep(timed(spent, "read", batches), lifting, archive)
        for batch in timed(spent, "lift", lifted):
            yield from timed(spent, "match", results.pack(_matched(standing, batch)))
        spent["lift"] -= spent["read"]  # which it waits for


def _matched(standing: Standing, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for index, version, stretch in standing.stretches(batch):
        yield from stage.match_events([stretch], index, bindings=True, version=version)


def _standing(store: str, snapshots: Path) -> Standing:
    """This process's index, with the snapshots that are within reach, or have been sent."""
    here, sent = delivered(snapshots)
    standing = _kept_standing(store, here, os.getpid())
    standing.snapshots.take(sent)
    return standing


@cache
def _kept_standing(store: str, snapshots: Path, _process: int) -> Standing:
    """This process's index, kept from batch to batch."""
    return Standing(open_store(store), Snapshots(snapshots, open_store(store)))


def _snapshots(checkpoint: Path) -> Path:
    """Where snapshots are kept, beside the checkpoint: a worker that does not see it is on another machine."""
    folder = checkpoint.absolute().with_name("index")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _keeper(store: str, checkpoint: Path) -> Keeper:
    opened = Store(store, patient=True)
    return Keeper(Snapshots(_snapshots(checkpoint), opened), opened)


def _sender(spark: SparkSession, store: str, checkpoint: Path) -> Sender:
    """What sends snapshots to other machines, and has sent one before anybody there could need it."""
    opened = Store(store, patient=True)
    snapshots = Snapshots(_snapshots(checkpoint), opened)
    if is_elsewhere(spark.sparkContext):
        snapshots.find(opened.ontology_version(opened.last_position() + 1))
    sender = Sender(spark.sparkContext, snapshots)
    sender.look()
    return sender


def write_results(found: DataFrame, batch: int, store: Store, society: Society, report: Path | None = None) -> None:
    """Write a batch's notifications, suggestions and dead letters, and how far it went, in one transaction."""
    found.sparkSession.sparkContext.setJobDescription(f"{NAME}: matching batch {batch} of the log")
    tables = list(results.unpack(found.toArrow()))
    with timing(report, "write"):
        outcomes = [outcome for table in tables for outcome in _outcomes(table)]
        refused = [letter for table in tables for letter in _letters(table)]
        upto = max((pc.max(table.column("position")).as_py() for table in tables), default=0)
        patiently(lambda: society.propose(upto))
        lapses = [lapse for table in tables for lapse in _lapses(table)]
        patiently(lambda: store.record(outcomes, refused, upto, society.offers(outcomes), lapses))


def _outcomes(table: pa.Table) -> Iterator[Outcome]:
    """The matches in some rows, a column at a time."""
    groups = table.column("told").combine_chunks()
    matches, rows = groups.flatten(), pc.list_parent_indices(groups)
    columns = [table.column(name).take(rows) for name in ("position", "id", "version")]
    positions, ids, versions = (column.to_pylist() for column in columns)
    told = (matches.field(name).to_pylist() for name in ("subscription", "score", "bindings"))
    return map(Outcome._make, zip(positions, ids, *told, versions, strict=True))


def _letters(table: pa.Table) -> Iterator[DeadLetter]:
    for row in table.filter(pc.field("refusal").is_valid()).select(["position", "refusal"]).to_pylist():
        yield DeadLetter(row["position"], _reason(row["refusal"]))


def _lapses(table: pa.Table) -> Iterator[StoredLapse]:
    for row in table.filter(pc.field("lapses").is_valid()).select(["position", "id", "lapses"]).to_pylist():
        for lapse in row["lapses"]:
            yield StoredLapse(row["position"], row["id"], lapse["subscription"], lapse["reason"])


def _reason(refusal: str) -> str:
    """A refusal as a sentence, with no half characters, which JSON's escapes can smuggle in."""
    told = json.loads(refusal)
    reason = told["message"] if told["error"] == EventError.__name__ else f"{told['error']}: {told['message']}"
    return reason.encode("utf-8", "backslashreplace").decode()


def _wait(
    queries: Sequence[StreamingQuery],
    store: Store,
    until: int | None,
    parent: int | None,
    signals: _Signals,
    archive: Path | None,
    duties: Sequence[Callable[[], None]],
) -> None:
    looks = count()
    while all(query.isActive for query in queries) and not signals.come():
        for duty in duties:
            patiently(duty)
        done = patiently(store.pipeline_position)
        if archive is not None and next(looks) % SETTLING == 0:
            Archive(archive).settle(done)
        if until is not None and done >= until:
            return
        if parent is not None and os.getppid() != parent:
            return
    for query in queries:
        if (error := query.exception()) is not None:
            raise error


def _stop(query: StreamingQuery) -> None:
    """Stop between two batches if one comes soon: to break one off does no harm, but a lot of talk."""
    deadline = time.monotonic() + PATIENCE
    while query.isActive and query.status["isTriggerActive"] and time.monotonic() < deadline:
        time.sleep(0.01)
    query.stop()


class _Signals:
    """Interrupts and requests to terminate. While the stream is ``at_work`` the first one waits until it is looked for.

    Before, and if a second one comes as nobody has looked, whatever goes on is broken off: it may be that a store is
    waited for which is locked, or away.
    """

    def __init__(self) -> None:
        self.at_work = False
        self._came: SimpleQueue[int] = (
            SimpleQueue()
        )  # of all that threads wait for, this alone may be used by a handler
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, _frame: object) -> None:
        if not self.at_work or not self._came.empty():
            raise KeyboardInterrupt
        self._came.put(number)

    def come(self) -> bool:
        """Whether one comes until it is time for the next look."""
        with suppress(Empty):
            self._came.get(timeout=GLANCE)
            return True
        return False


@contextmanager
def _alone(checkpoint: Path) -> Iterator[None]:
    """Keep a second stream away from the checkpoint, which has room for one."""
    checkpoint.mkdir(parents=True, exist_ok=True)
    with (checkpoint / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"a pipeline is running on {checkpoint} already") from None
        yield
