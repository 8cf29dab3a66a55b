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
        reported INTEGER,
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
    # by group; both are written by store/agents.py in one place. reported: when last_keep_alive was, in nanoseconds.
    "CREATE INDEX agents_by_groups ON agents (groups)",
    "CREATE INDEX agents_by_report ON agents (last_keep_alive) WHERE last_keep_alive IS NOT NULL",
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
    # What a merged file with this digest puts into an agent folder: JSON {relative name: [sha256, size]}, and the
    # revision that each group had: JSON {group: number}. One that nobody was given or uses any more keeps its checksums
    # and revisions, so that an agent that reports it late is understood; its files are the empty text then. saved: the
    # last ones that were saved have the highest numbers.
    """CREATE TABLE manifests (
        digest TEXT PRIMARY KEY,
        md5 TEXT NOT NULL,
        files TEXT NOT NULL,
        revisions TEXT NOT NULL DEFAULT '{}',
        saved INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX manifests_by_md5 ON manifests (md5)",
    "CREATE INDEX manifests_by_saved ON manifests (saved)",
    # What was last written into an agent's folder (digest of its merged file), and how every file of it looked then
    # (a digest): empty when that must not be trusted, NULL when a push was announced and is not recorded yet. pushed:
    # the time of the newest file that was written, in nanoseconds. running: the merged file that the agent uses, as far
    # as it is known (empty: it is not): a digest, or a checksum that it reported and that is of nothing known, or `x`
    # when it reported that it has none.
    """CREATE TABLE sync_state (
        agent_id INTEGER PRIMARY KEY REFERENCES agents(id) ON DELETE CASCADE,
        digest TEXT NOT NULL,
        pushed INTEGER NOT NULL,
        look BLOB,
        running TEXT NOT NULL DEFAULT ''
    ) STRICT""",
)

_ROLLOUTS = (
    # A rollout: a sample of agents (canaries) gets what its groups give, the others of the same combinations are held
    # back while the state is `open`. selection: what was asked for, in words; changed: the groups whose files it
    # brings, comma-joined; ended_by: a name, '' for nobody.
    """CREATE TABLE rollouts (
        id INTEGER PRIMARY KEY,
        state TEXT NOT NULL CHECK (state IN ('open', 'promoted', 'withdrawn', 'cancelled')),
        started INTEGER NOT NULL,
        user TEXT NOT NULL,
        context_id TEXT,
        reason TEXT,
        selection TEXT NOT NULL,
        abort_if TEXT,
        changed TEXT NOT NULL,
        ended INTEGER,
        ended_by TEXT
    ) STRICT""",
    "CREATE INDEX rollouts_open ON rollouts (id) WHERE state = 'open'",
    # What a rollout brings to a combination of groups (digest of a merged file), and what most of it had before.
    """CREATE TABLE rollout_aims (
        rollout_id INTEGER NOT NULL REFERENCES rollouts(id) ON DELETE CASCADE,
        groups TEXT NOT NULL,
        digest TEXT NOT NULL,
        before TEXT NOT NULL,
        PRIMARY KEY (rollout_id, groups)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE rollout_canaries (
        rollout_id INTEGER NOT NULL REFERENCES rollouts(id) ON DELETE CASCADE,
        agent_id INTEGER NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
        why TEXT NOT NULL,
        failure TEXT,
        PRIMARY KEY (rollout_id, agent_id)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX rollout_canaries_by_agent ON rollout_canaries (agent_id)",
)

_HISTORY = (
    # Each state of a group's folder. changes: JSON [[change, file], ...]; author NULL: found on disk, its files
    # written between the times `written`: JSON [from, to].
    """CREATE TABLE revisions (
        group_name TEXT NOT NULL,
        number INTEGER NOT NULL,
        time INTEGER NOT NULL,
        how TEXT NOT NULL,
        author TEXT,
        context_id TEXT,
        reason TEXT,
        changes TEXT NOT NULL,
        tree TEXT NOT NULL,
        written TEXT,
        PRIMARY KEY (group_name, number)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX revisions_by_tree ON revisions (tree)",
    # The highest number of each group, which never comes back; state: how the folder looked when it was recorded.
    """CREATE TABLE revision_heads (
        group_name TEXT PRIMARY KEY,
        number INTEGER NOT NULL,
        state TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    # files: JSON {relative name: [sha256, size]}; digest: SHA-256 of that text.
    "CREATE TABLE trees (digest TEXT PRIMARY KEY, files TEXT NOT NULL) STRICT, WITHOUT ROWID",
    # Contents in the folder `revisions`, and in how many trees each is.
    "CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, uses INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE INDEX blobs_unused ON blobs (sha256) WHERE uses <= 0",
    # The journal: a change that was announced before its first file was touched and is not recorded yet.
    """CREATE TABLE intents (
        group_name TEXT PRIMARY KEY,
        how TEXT NOT NULL,
        author TEXT,
        context_id TEXT,
        reason TEXT,
        time INTEGER NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
)

_ACCEPTED = (
    # Errors that somebody accepted in a file of a group, for exactly these bytes (digest: SHA-256); rules: JSON, the
    # names of the lint rules that found them.
    """CREATE TABLE accepted (
        group_name TEXT NOT NULL,
        file TEXT NOT NULL,
        digest TEXT NOT NULL,
        rules TEXT NOT NULL,
        user TEXT NOT NULL,
        context_id TEXT,
        reason TEXT NOT NULL,
        time INTEGER NOT NULL,
        PRIMARY KEY (group_name, file, digest)
    ) STRICT, WITHOUT ROWID""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_ACCESS + _FLEET + _ROLLOUTS + _HISTORY + _ACCEPTED,)
