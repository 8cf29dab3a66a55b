"""The schema, as append-only numbered steps (`PRAGMA user_version` counts them). A released step never changes.

Names are unique without regard to case through `name_key` (casefolded). Ids never come back: `identifiers` holds the
highest ever given. Times are integer seconds since 1970 UTC, NULL where unknown. D 1, D 5, D 8.
"""

from __future__ import annotations

_ACCESS = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",  # value: JSON
    # name: `service` ends every session, `contexts` every context session (D 1, revocation by generations)
    "CREATE TABLE generations (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT",
    "CREATE TABLE identifiers (kind TEXT PRIMARY KEY, highest INTEGER NOT NULL) STRICT",
    """CREATE TABLE users (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        name_key TEXT NOT NULL UNIQUE,
        password TEXT,
        allow_run_as INTEGER NOT NULL DEFAULT 0,
        generation INTEGER NOT NULL DEFAULT 1
    ) STRICT""",
    """CREATE TABLE roles (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        name_key TEXT NOT NULL UNIQUE,
        generation INTEGER NOT NULL DEFAULT 1,
        context_generation INTEGER NOT NULL DEFAULT 1
    ) STRICT""",
    """CREATE TABLE policies (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        name_key TEXT NOT NULL UNIQUE,
        blocks TEXT NOT NULL
    ) STRICT""",  # blocks: JSON {block name: {"actions": [...], "resources": [...], "effect": ...}}
    """CREATE TABLE rules (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        name_key TEXT NOT NULL UNIQUE,
        document TEXT NOT NULL,
        needed_keys TEXT
    ) STRICT""",  # document: JSON list of expressions; needed_keys: see domain/matching.py
    """CREATE TABLE user_roles (
        user_id INTEGER NOT NULL REFERENCES users(id) ON DELETE CASCADE,
        role_id INTEGER NOT NULL REFERENCES roles(id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        PRIMARY KEY (user_id, role_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX user_roles_by_role ON user_roles (role_id)",
    """CREATE TABLE role_policies (
        role_id INTEGER NOT NULL REFERENCES roles(id) ON DELETE CASCADE,
        policy_id INTEGER NOT NULL REFERENCES policies(id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        PRIMARY KEY (role_id, policy_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX role_policies_by_policy ON role_policies (policy_id)",
    """CREATE TABLE role_rules (
        role_id INTEGER NOT NULL REFERENCES roles(id) ON DELETE CASCADE,
        rule_id INTEGER NOT NULL REFERENCES rules(id) ON DELETE CASCADE,
        PRIMARY KEY (role_id, rule_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX role_rules_by_rule ON role_rules (rule_id)",
    """CREATE TABLE sessions (
        digest TEXT PRIMARY KEY,
        jti TEXT NOT NULL,
        user_id INTEGER NOT NULL,
        context_id TEXT,
        context_name TEXT,
        roles TEXT NOT NULL,
        generations TEXT NOT NULL,
        issued INTEGER NOT NULL,
        expires INTEGER NOT NULL,
        revoked INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID""",
    # digest: SHA-256 hex of the token. roles: ids in order, comma-joined. generations: comma-joined numbers in the
    # order service, user, then one per role (its generation); for a context session: service, contexts, user, then
    # generation and context_generation of each role. A session lives while they equal the present ones.
    "CREATE INDEX sessions_by_user ON sessions (user_id)",
    "CREATE INDEX sessions_by_expiry ON sessions (expires)",
    # The register of contexts: a row for each outcome that a login with a context had (user and names as they were).
    # granted: JSON {"rules": [[id, name], ...], "roles": [[id, name], ...]}; keys: JSON, values masked.
    """CREATE TABLE contexts (
        id INTEGER PRIMARY KEY,
        context_id TEXT NOT NULL,
        user_id INTEGER NOT NULL,
        user TEXT NOT NULL,
        granted TEXT NOT NULL,
        keys TEXT NOT NULL,
        first_seen INTEGER NOT NULL,
        last_seen INTEGER NOT NULL,
        logins INTEGER NOT NULL DEFAULT 1,
        UNIQUE (context_id, user_id, user, granted)
    ) STRICT""",
    "CREATE INDEX contexts_by_time ON contexts (last_seen)",
    """CREATE TABLE login_failures (
        bucket TEXT PRIMARY KEY,
        failures INTEGER NOT NULL,
        window_start INTEGER NOT NULL,
        blocked_until INTEGER
    ) STRICT, WITHOUT ROWID""",
)

_FLEET = (
    """CREATE TABLE agents (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        name_key TEXT NOT NULL UNIQUE,
        ip TEXT,
        register_ip TEXT NOT NULL DEFAULT 'any',
        key TEXT NOT NULL,
        folder TEXT UNIQUE,
        status_code INTEGER NOT NULL DEFAULT 0,
        started INTEGER,
        date_add INTEGER NOT NULL,
        last_keep_alive INTEGER,
        disconnection_time INTEGER,
        groups TEXT NOT NULL,
        group_config_status TEXT NOT NULL DEFAULT 'not synced'
            CHECK (group_config_status IN ('synced', 'not synced')),
        merged_sum TEXT,
        config_sum TEXT,
        os_name TEXT, os_version TEXT, os_major TEXT, os_minor TEXT, os_codename TEXT, os_platform TEXT,
        os_build TEXT, os_uname TEXT, os_arch TEXT,
        version TEXT,
        manager TEXT,
        node_name TEXT NOT NULL DEFAULT 'unknown'
    ) STRICT""",
    # groups: the names in order, comma-joined: the agent's combination. memberships holds the same fact for queries
    # by group; both are written by store/agents.py in one place.
    "CREATE INDEX agents_by_groups ON agents (groups)",
    """CREATE TABLE memberships (
        group_name TEXT NOT NULL,
        agent_id INTEGER NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        PRIMARY KEY (group_name, agent_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX memberships_by_agent ON memberships (agent_id)",
    # One row for each combination of groups that was ever built: its merged file as it was last built, and the state of
    # the sources it was built from (signature), so that an unchanged combination is not read again.
    """CREATE TABLE merged_files (
        groups TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        md5 TEXT NOT NULL,
        size INTEGER NOT NULL,
        signature TEXT NOT NULL,
        built INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # What a merged file with this digest puts into an agent folder: JSON {relative name: [sha256, size]}.
    """CREATE TABLE manifests (
        digest TEXT PRIMARY KEY,
        md5 TEXT NOT NULL,
        files TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # What was last written into an agent's folder (digest of its merged file), and how every file of it looked then
    # (a digest): empty when that must not be trusted, NULL when a push was announced and is not recorded yet.
    """CREATE TABLE sync_state (
        agent_id INTEGER PRIMARY KEY REFERENCES agents(id) ON DELETE CASCADE,
        digest TEXT NOT NULL,
        pushed INTEGER NOT NULL,
        look BLOB
    ) STRICT""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_ACCESS + _FLEET,)
