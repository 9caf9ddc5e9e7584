//! The tables, and how a file of an earlier version becomes one of this version.

use rusqlite::Connection;

/// What brings a database from one version to the next. The first makes it; a new version is a new entry at the end, and
/// what was released is never changed.
pub(super) const MIGRATIONS: &[&str] = &[FIRST, PAST_PROPOSALS];

/// Records of all kinds are rows of one table, found by what they are about. `id` is the order in which they were made.
/// A promotion that was removed keeps its row: `removed` is then the version of the store at which that happened. That
/// is why the key is unique among the others only.
///
/// The past of promotions is read newest first, for everything, a namespace, a pipeline or an environment; each of these
/// has an index that ends with what is filtered by, so that only rows that are wanted are looked up.
const FIRST: &str = "
    CREATE TABLE counter (version INTEGER NOT NULL) STRICT;
    INSERT INTO counter VALUES (0);

    CREATE TABLE records (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        kind TEXT NOT NULL,
        namespace TEXT NOT NULL,
        pipeline TEXT NOT NULL,
        environment TEXT NOT NULL,
        name TEXT NOT NULL,
        phase TEXT NOT NULL,
        version INTEGER NOT NULL,
        removed INTEGER,
        json TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX live ON records (namespace, pipeline, kind, environment, name) WHERE removed IS NULL;
    CREATE INDEX promotions ON records (id, phase, environment) WHERE kind = 'Promotion';
    CREATE INDEX promotions_of_namespace ON records (namespace, id, phase, environment) WHERE kind = 'Promotion';
    CREATE INDEX promotions_of_pipeline ON records (namespace, pipeline, id, phase) WHERE kind = 'Promotion';
    CREATE INDEX promotions_of_environment ON records (namespace, pipeline, environment, id, phase)
        WHERE kind = 'Promotion';

    CREATE TABLE deeds (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace TEXT,
        pipeline TEXT,
        person TEXT NOT NULL,
        json TEXT NOT NULL
    ) STRICT;
    CREATE INDEX deeds_of_namespace ON deeds (namespace, number);
    CREATE INDEX deeds_of_pipeline ON deeds (namespace, pipeline, number);
    CREATE INDEX deeds_of_person ON deeds (person, number);
";

/// A proposal that was removed keeps its row, too, and is found by its name.
const PAST_PROPOSALS: &str = "
    CREATE INDEX past_proposals ON records (namespace, pipeline, environment, name)
        WHERE kind = 'Proposal' AND removed IS NOT NULL;
";

/// Why a database cannot be brought to this version.
#[derive(Debug)]
pub(super) enum SchemaError {
    /// It is of a version that this program does not know.
    Newer(usize),
    /// SQLite refused.
    Database(rusqlite::Error),
}

impl From<rusqlite::Error> for SchemaError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Takes the steps that the database has not taken yet, each whole or not at all.
pub(super) fn migrate(database: &mut Connection, migrations: &[&str]) -> Result<(), SchemaError> {
    let found: i64 = database.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    // A number below zero was never written by Weir, and is as foreign as one from the future.
    let found = usize::try_from(found).unwrap_or(usize::MAX);
    let Some(steps) = migrations.get(found..) else { return Err(SchemaError::Newer(found)) };
    for (step, version) in steps.iter().zip(found + 1..) {
        let transaction = database.transaction()?;
        transaction.execute_batch(step)?;
        transaction.execute_batch(&format!("PRAGMA user_version = {version}"))?;
        transaction.commit()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(database: &Connection) -> i64 {
        database.query_row("PRAGMA user_version", (), |row| row.get(0)).unwrap()
    }

    #[test]
    fn only_the_steps_that_are_missing_are_taken() {
        let steps = ["CREATE TABLE a (x)", "INSERT INTO a VALUES (1)", "INSERT INTO a VALUES (2)"];
        let mut database = Connection::open_in_memory().unwrap();
        migrate(&mut database, &steps[..2]).unwrap();
        assert_eq!(version(&database), 2);
        migrate(&mut database, &steps).unwrap();
        migrate(&mut database, &steps).unwrap();
        let sum: i64 = database.query_row("SELECT sum(x) FROM a", (), |row| row.get(0)).unwrap();
        assert_eq!((version(&database), sum), (3, 3));
    }

    #[test]
    fn a_step_that_fails_changes_nothing() {
        let mut database = Connection::open_in_memory().unwrap();
        let broken = ["CREATE TABLE a (x)", "INSERT INTO a VALUES (1); INSERT INTO nowhere VALUES (1)"];
        assert!(matches!(migrate(&mut database, &broken), Err(SchemaError::Database(_))));
        let count: i64 = database.query_row("SELECT count(*) FROM a", (), |row| row.get(0)).unwrap();
        assert_eq!((version(&database), count), (1, 0));
    }

    #[test]
    fn a_database_of_the_future_is_left_alone() {
        let mut database = Connection::open_in_memory().unwrap();
        database.execute_batch("PRAGMA user_version = 7").unwrap();
        assert!(matches!(migrate(&mut database, MIGRATIONS), Err(SchemaError::Newer(7))));
        let tables: i64 = database.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0)).unwrap();
        assert_eq!(tables, 0);
    }
}
