CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE suites (
    suite TEXT NOT NULL, position INTEGER NOT NULL, row TEXT NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (suite, row)
) WITHOUT ROWID;
CREATE TABLE runs (
    row TEXT NOT NULL, contestant TEXT NOT NULL, seed INTEGER NOT NULL,
    failure TEXT NOT NULL, result TEXT NOT NULL, schedule BLOB,
    PRIMARY KEY (row, contestant, seed)
);
