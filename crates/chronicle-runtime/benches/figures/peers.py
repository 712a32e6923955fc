"""Other systems doing durable steps: `peers.py SYSTEM version | steps FOLDER COUNT | crash FOLDER | again FOLDER`.

A step adds one line to a file, as an agent's work would change the world; `crash` dies by SIGKILL inside its second step,
`again` lets the system go on from there.
"""

import importlib.metadata
import os
import signal
import sys
import time


def versions(*names):
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in names))


def work(folder, number, dies):
    """One step with an effect; half done when it dies."""
    with open(os.path.join(folder, "effects"), "a", encoding="utf-8") as effects:
        effects.write(f"{number} ")
    if dies and number == 2:
        os.kill(os.getpid(), signal.SIGKILL)


def sync_every_commit(connection):
    """All systems are held to what ours does: a step is on disk before the next one begins."""
    connection.execute("PRAGMA synchronous = FULL")
    level = connection.execute("PRAGMA synchronous").fetchone()[0]
    assert level == 2, f"SQLite syncs at level {level}"


def langgraph(verb, folder, count):
    from typing import TypedDict

    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        done: int

    def step(state):
        number = state["done"] + 1
        if verb != "steps":
            work(folder, number, verb == "crash")
        return {"done": number}

    graph = StateGraph(State)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda state: END if state["done"] >= count else "step")
    with SqliteSaver.from_conn_string(os.path.join(folder, "langgraph.sqlite")) as saver:
        saver.setup()
        sync_every_commit(saver.conn)
        app = graph.compile(checkpointer=saver)
        config = {"configurable": {"thread_id": "one"}, "recursion_limit": count + 10}
        first = None if verb == "again" else {"done": 0}
        begin = time.perf_counter()
        app.invoke(first, config, durability="sync")
        return time.perf_counter() - begin


def dbos(verb, folder, count):
    import sqlalchemy
    from dbos import DBOS, SetWorkflowID

    @sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "connect")
    def connected(connection, _record):
        sync_every_commit(connection)

    path = os.path.join(folder, "dbos.sqlite")
    DBOS(
        config={
            "name": "bench",
            "system_database_url": f"sqlite:///{path}",
            "log_level": "ERROR",
            "run_admin_server": False,
            "application_version": "one",
        }
    )

    @DBOS.step()
    def step(number):
        if verb != "steps":
            work(folder, number, verb == "crash")
        return number

    @DBOS.workflow()
    def workflow():
        for number in range(1, count + 1):
            step(number)

    DBOS.launch()
    begin = time.perf_counter()
    if verb == "again":
        DBOS.retrieve_workflow("one").get_result()
    else:
        with SetWorkflowID("one"):
            workflow()
    elapsed = time.perf_counter() - begin
    DBOS.destroy()
    return elapsed


def main():
    system, verb = sys.argv[1:3]
    if verb == "version":
        versions(*{"langgraph": ("langgraph", "langgraph-checkpoint-sqlite"), "dbos": ("dbos",)}[system])
        return
    folder = sys.argv[3]
    os.makedirs(folder, exist_ok=True)
    count = int(sys.argv[4]) if verb == "steps" else 3
    print({"langgraph": langgraph, "dbos": dbos}[system](verb, folder, count))


main()
