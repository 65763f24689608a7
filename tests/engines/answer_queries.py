"""Answers SQL, a line of JSON each, with Spark or ClickHouse: run in the engines' environment."""

import json
import sys


def spark():
    """Return what runs SQL on Spark in this process, on one core."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.ansi.enabled": "true",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return lambda sql: [list(row) for row in session.sql(sql).collect()]


def clickhouse():
    """Return what runs SQL on ClickHouse in this process."""
    import chdb

    def run(sql):
        lines = str(chdb.query(sql, "JSONCompactEachRow")).splitlines()
        return [json.loads(line) for line in lines if line]

    return run


def main():
    """Answer each line of the input."""
    run = {"spark": spark, "clickhouse": clickhouse}[sys.argv[1]]()
    print("ready", flush=True)
    for line in sys.stdin:
        rows = run(json.loads(line))
        print(json.dumps(rows, default=str), flush=True)


if __name__ == "__main__":
    main()
