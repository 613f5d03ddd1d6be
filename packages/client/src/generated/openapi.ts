/*
 * Made from the gateway's OpenAPI document by `npm run generate -w packages/client`. It is not edited by hand.
 */

export interface paths {
    "/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check whether the process is up */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check whether the process is up */
        get: operations["healthLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check whether the service is ready for requests */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store one memory
         * @description Stores one memory with one id. An exact repeat stores nothing and returns the id of the existing memory, unless the repeat has a more trusted writer and therefore replaces that memory. The answer contains `trust` when the trust of the memory is below `trusted`.
         */
        post: operations["retain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/retain/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store up to 1000 memories, all or none */
        post: operations["retainBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search one bank or several
         * @description Requires exactly one of bank_id and banks. Filters apply within every strategy. A bank that does not exist counts as empty.
         */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/recall/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain why a recall returns or excludes a memory
         * @description Runs the recall and reports, for one memory, its rank at each stage and what excluded it. Counts as a recall.
         */
        post: operations["explainRecall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete memories by id or by filters, or the whole bank
         * @description Requires memory_ids, or one or more filters, or `scope: "all"`. A memory is deleted when it passes all filters that are given; one without `occurred_at` passes no bound on it. `scope: "all"` requires the permission `admin`.
         */
        post: operations["forget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the banks that the caller may read */
        get: operations["listBanks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a bank */
        get: operations["getBank"];
        put?: never;
        post?: never;
        /**
         * Delete a bank
         * @description Deletes the memories of the bank, its configuration and the configuration history, in one transaction. A forget with `scope: all` keeps the configuration. The deletion counts as a forget. For a bank that does not exist, the counts are zero.
         */
        delete: operations["deleteBank"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the statistics of a bank */
        get: operations["getBankStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the memories of a bank */
        get: operations["listMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a memory */
        get: operations["getMemory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a memory
         * @description A merge patch (RFC 7396): members that are given replace those of the memory, and null removes one. The memory keeps its id and gets its next version; the version before it can still be read. The content is checked and indexed as in retain. A patch that changes nothing makes no version.
         */
        patch: operations["patchMemory"];
        trace?: never;
    };
    "/v1/banks/{bank_id}/growth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the growth of a bank by day */
        get: operations["getBankGrowth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/memories/{memory_id}/neighbours": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a memory and its neighbours in the document */
        get: operations["getMemoryNeighbours"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/memories/{memory_id}/retire": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a memory back
         * @description The memory is kept, with its text, but no ordinary recall finds it; readers find it with `state: "history"`. It can be restored.
         */
        post: operations["retireMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/memories/{memory_id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a superseded or retired memory current again */
        post: operations["restoreMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/memories/{memory_id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a memory
         * @description Every version with who made it, when and why, the last one first.
         */
        get: operations["listVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/memories/{memory_id}/versions/{version}/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Empty an earlier version of a memory
         * @description Permanently removes what a version said, and the facts that were derived from the memory; that there was a version, and who made it when, stays. The last version is not redacted but changed, or the memory forgotten.
         */
        post: operations["redactVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a bank back to an instant
         * @description The current memories are again those of that instant, with the contents of then; what was stored later is retired. Nothing is deleted, so that a rollback can itself be rolled back. What was forgotten stays forgotten.
         */
        post: operations["rollbackBank"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the conversations of a bank */
        get: operations["listConversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/conversations/{conversation_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the messages of a conversation
         * @description The newest messages, or those before or after a place; oldest first within a page. A conversation that does not exist is empty.
         */
        get: operations["listMessages"];
        put?: never;
        /**
         * Append messages to a conversation, each once
         * @description Stores each message that the conversation does not have as a memory whose `document_id` is the id of the conversation: all of them or none. A transcript may be sent whole each time, or only what is new. With `id`, the same id and content is a repeat. Without, the messages are aligned with the end of the conversation, or with its beginning, and the longest overlap is repeats. So a client that sends only what is new, and may say the same again, gives ids. Instructions (`system`, `developer`) are stored once in a conversation.
         */
        post: operations["appendMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/conversations/{conversation_id}/pop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete the last messages of a conversation
         * @description Counts as a forget. What is sent again afterwards is stored again.
         */
        post: operations["popMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/conversations/{conversation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a conversation
         * @description Deletes its messages. Other memories of a document of the same id stay. Counts as a forget.
         */
        delete: operations["deleteConversation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List which memories may take the place of others
         * @description What retain found where the bank asks for it (`signal_quality.proposals`): a memory that has the same subject as an older one and another value, number, negation or place, or nearly the same words. Nothing changes until a proposal is accepted.
         */
        get: operations["listProposals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/proposals/{proposal_id}/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a memory take the place of the older one */
        post: operations["acceptProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/proposals/{proposal_id}/dismiss": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Leave both memories as they are */
        post: operations["dismissProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/proposals/{proposal_id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take the decision about a proposal back
         * @description Restores the older memory when the proposal was accepted. The proposal is open again.
         */
        post: operations["undoProposal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the configuration of a bank
         * @description Returns the bank's own configuration, the settings in force, and the origin of each value.
         */
        get: operations["getBankConfig"];
        /**
         * Set the configuration of a bank
         * @description Replaces the configuration. A bank can set tighter limits than the server's file, never looser ones. The configuration takes effect at once on this replica, and within two seconds on every other. `retrieval` and `reflect` apply to requests on this bank, and to requests on several banks when all of them have the same values.
         */
        put: operations["putBankConfig"];
        post?: never;
        /** Reset the configuration of a bank */
        delete: operations["resetBankConfig"];
        options?: never;
        head?: never;
        /**
         * Change parts of the configuration of a bank
         * @description A merge patch (RFC 7396), as `application/merge-patch+json` or `application/json`.
         */
        patch: operations["patchBankConfig"];
        trace?: never;
    };
    "/v1/banks/{bank_id}/config/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the latest changes of the configuration of a bank */
        get: operations["getBankConfigHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export a bank as NDJSON
         * @description Returns a header line, then every memory, oldest first, in the state of the bank when the request arrived.
         */
        get: operations["exportBank"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import an export, all of it or none
         * @description Memories keep their ids and times and undergo the same checks as in a retain. They count towards `import_per_minute` and `import_per_day`, not towards the limits of retain; the import counts once towards `global_per_minute`.
         */
        post: operations["importBank"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the identity of the caller, as the service sees it
         * @description With `?bank_id=`, also returns the permissions of the caller on that bank and the grant or policy that gives each of them.
         */
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the permissions of the caller on each bank
         * @description Returns the banks that the caller may read, each with the permissions of the caller and the grant or policy that gives each of them.
         */
        get: operations["getAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reflect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a question from memories
         * @description The answer cites its sources as [1], [2], in the order of `sources`. Without evidence, the service abstains and calls no model.
         *
         *     With `Accept: text/event-stream` the answer is streamed: `evidence` (`{sources}`, in the order of the ranking), any number of `delta` (`{text}`), `usage`, then `done` (the members of the JSON answer except usage; its `answer` is the whole text), or `error` (the body of an error answer). A comment is sent after every 15 seconds of silence. An error before the `evidence` event gets an ordinary error status.
         */
        post: operations["reflect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the webhook sources and their state */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/banks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the banks of all tenants */
        get: operations["adminListBanks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/banks/{bank_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the banks with an id, one entry for each tenant */
        get: operations["adminGetBank"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/banks/{bank_id}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the configuration of a bank, as its admins see it */
        get: operations["adminGetBankConfig"];
        put?: never;
        post?: never;
        /**
         * Reset the configuration that the admins of a bank have set
         * @description Also removes the grants in that configuration.
         */
        delete: operations["adminResetBankConfig"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply a changed configuration file
         * @description Applies all changes or none, as SIGHUP does: a file with a problem, or with a change that needs a restart, changes nothing. The body is an empty JSON object.
         */
        post: operations["reloadConfiguration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get requests, durations and memory use over the last hour
         * @description Covers only this process, since its start.
         */
        get: operations["adminGetHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the providers of the server and their state
         * @description Covers only this process. Checks the store as `GET /health` does, and calls no model.
         */
        get: operations["adminGetStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the permissions of a principal on each bank
         * @description Returns every bank of the tenant, each with the permissions of the principal and the grant or policy that gives each of them.
         */
        get: operations["adminGetAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/access/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the rules of access control in the configuration file */
        get: operations["adminGetAccessRules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/access/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check whether a principal has a permission, and why
         * @description Makes the same decision as for a request of that principal. Changes nothing and does not count as a refusal.
         */
        post: operations["adminCheckAccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ingest/webhook/{source_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retain one event of a webhook source
         * @description Reads the content, and metadata, tags, occurred_at and speaker if present; ignores other members, and all query parameters.
         */
        post: operations["ingestWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description The permission to check. The bank need not exist. */
        AccessCheck: {
            /**
             * @description Absent: an anonymous caller; required outside dev mode, where there is none.
             * @example user:alice
             */
            principal?: string;
            /** @description Absent: callers without a tenant. */
            tenant_id?: string;
            /**
             * @description The principal on whose behalf the caller acts.
             * @example user:alice
             */
            on_behalf_of?: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            permission: components["schemas"]["Permission"];
        };
        /** @description The decision on one permission. */
        AccessDecision: {
            allowed: boolean;
            /** @description The grant or policy that gives the permission; null when none does. */
            granted_by: string | null;
            /** @description The reason as a sentence; for a denial, the `detail` that the caller gets. */
            reason: string;
        };
        /** @description The permissions of a principal on each bank, and the rule that gives each of them. */
        AccessPage: {
            principal: string | null;
            tenant_id: string | null;
            on_behalf_of: string | null;
            banks: components["schemas"]["BankAccess"][];
            /** @description Null on the last page. A page before it may have fewer banks than `limit`, or none, when the caller may not read the others. */
            next_cursor: string | null;
        };
        /** @description The rules of the configuration file. Grants in the configuration of a bank add to them. */
        AccessRules: {
            /** @description False: every caller has every permission. */
            enabled: boolean;
            /**
             * @description The policy that applies when no grant matches.
             * @enum {string}
             */
            default_policy: "owner_only" | "open" | "deny";
            /** @description Patterns of the banks that a principal owns, for owner_only. */
            owner_patterns: string[];
            /** @description The first 1000 grants. */
            grants: components["schemas"]["GrantRule"][];
            /** @description True when there are more grants. */
            truncated: boolean;
        };
        /** @description The actor of the request, in jwt_oidc mode. */
        Actor: {
            type: string;
            id: string;
            claims: {
                [key: string]: string;
            };
        };
        /** @description A bank of a tenant. */
        AdminBank: {
            tenant_id: string | null;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            memory_count: number;
            /**
             * Format: date-time
             * @description Null when the bank is empty.
             */
            last_retained_at: string | null;
        };
        /** @description Banks with their tenants. */
        AdminBanksAnswer: {
            banks: components["schemas"]["AdminBank"][];
        };
        /** @description The providers and settings of this process and their state. Contains no secrets and no addresses. */
        AdminStatus: {
            /** @description Version of the gateway. */
            version: string;
            /**
             * Format: date-time
             * @description When this process became ready to listen.
             */
            started_at: string;
            auth: {
                /**
                 * @description `host`: the program that embeds the gateway authenticates callers.
                 * @enum {string}
                 */
                mode: "dev" | "api_key" | "jwt_hs256" | "jwt_oidc" | "host";
                /** @description Environment variables that the mode requires and that are not set. */
                missing: string[];
            };
            /** @description Whether grants and policies are enforced. */
            access_control: boolean;
            vector_store: {
                /** @description Registered name of the provider; `custom` for a class of the operator's own. */
                provider: string;
                /**
                 * @description Current state of the store. `unhealthy`: the store reports a fault. `failed`: the check ended in an error.
                 * @enum {string}
                 */
                status: "ok" | "unhealthy" | "failed" | "timed_out";
                /** @description Response time in milliseconds; null when the status is not `ok`. */
                latency_ms: number | null;
                /** @description Connections to the database, when the store uses one. */
                connections?: {
                    /** @description Maximum number of connections. */
                    size: number;
                    in_use: number;
                    /** @description Callers that wait for a connection. */
                    waiting: number;
                };
                /** @description Memories that are known to have no vector yet; absent when vectors are written together with the memory. */
                vectors_pending?: number;
            };
            embedding: {
                /** @description Registered name of the provider; `custom` for a class of the operator's own. */
                provider: string;
                /** @description The model; null when the provider names none. */
                model: string | null;
                /** @description Number of elements of every vector. */
                dimensions: number;
                status: components["schemas"]["ModelCondition"];
            };
            language_model: components["schemas"]["ModelInUse"];
            reranker?: components["schemas"]["ModelInUse"];
        };
        /** @description What became of the messages. */
        AppendMessagesAnswer: {
            /** @description Number of messages that are new. */
            stored: number;
            /** @description Number of messages that the conversation had. */
            repeated: number;
            /** @description The memory of each message, in order. Null for one that is not stored: a call of a tool or its result, a message without text, and a repeat of a message that was forgotten. */
            memory_ids: (string | null)[];
            /** @description Metadata keys that the bank's barriers removed. */
            redactions?: string[];
        };
        AppendMessagesBody: {
            messages: components["schemas"]["ConversationMessage"][];
        };
        /** @description Present only while every request to the memory routes is answered with 500 because of the configuration. */
        AuthHealth: {
            /** @enum {string} */
            status: "misconfigured";
            /** @description Environment variables that SERVICE_AUTH_MODE requires and that are not set. */
            missing: string[];
        };
        /**
         * @description A bank.
         * @example {
         *       "bank_id": "user-alice",
         *       "memory_count": 1,
         *       "last_retained_at": "2026-01-05T09:30:00.000Z"
         *     }
         */
        Bank: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            memory_count: number;
            /**
             * Format: date-time
             * @description Null when the bank is empty.
             */
            last_retained_at: string | null;
        };
        BankAccess: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            permissions: components["schemas"]["PermissionGrant"][];
        };
        BankConfig: {
            /** @description Grants on this bank, in addition to access_grants. */
            access?: components["schemas"]["BankGrant"][];
            /** @description Description of the bank, for people. */
            description?: string;
            /** @description A profile in the configuration file whose sections apply to the bank. The bank's own settings take precedence. */
            profile?: string;
            /** @description Limits on the use of a bank. */
            homeostasis?: {
                /** @description Maximum tokens of the hits of a recall: default and upper limit of `max_tokens` in a request. */
                recall_max_tokens?: number;
                /** @description Maximum tokens of the answer of a reflect: default and upper limit of `max_tokens` in a request. */
                reflect_max_tokens?: number;
                /** @description Maximum bytes of `content`, as UTF-8. */
                retain_max_content_bytes?: number;
                /** @description Rate limits, each for a minute of the clock (UTC). */
                rate_limits?: {
                    /** @description Retained items per minute, for each principal and bank. Unset: no limit. */
                    retain_per_minute?: number;
                    /** @description Recall operations per minute, for each principal and bank. Unset: no limit. */
                    recall_per_minute?: number;
                    /** @description Reflect operations per minute, for each principal and bank. Unset: no limit. */
                    reflect_per_minute?: number;
                    /** @description Forget operations per minute, for each principal and bank. Unset: no limit. */
                    forget_per_minute?: number;
                    /** @description Imported memories per minute, for each principal and bank. Unset: no limit. */
                    import_per_minute?: number;
                    /** @description Operations of all these kinds and changes of the bank's configuration together, per minute, for each principal and bank. An import counts as one, however many memories it has. Unset: no limit. */
                    global_per_minute?: number;
                };
                /** @description Daily quotas. */
                quotas?: {
                    /** @description Retained items per UTC day, for each bank. Unset: no limit. */
                    retain_per_day?: number;
                    /** @description Imported memories per UTC day, for each bank. Unset: no limit. */
                    import_per_day?: number;
                    /** @description Reflect operations per UTC day, for each bank. Unset: no limit. */
                    reflect_per_day?: number;
                    /** @description Calls to the language model per UTC day, for each bank. Unset: no limit. */
                    model_calls_per_day?: number;
                    /** @description Tokens of the language model, prompts and answers together, per UTC day, for each bank. Before a call, the tokens of its prompt and of its longest permitted answer are reserved. Unset: no limit. */
                    model_tokens_per_day?: number;
                };
            };
            /** @description Checks of what is stored in a bank. */
            barriers?: {
                /** @description Validation of `content`. */
                validation?: {
                    /** @description Maximum characters of `content`, after trimming. Default 50000. */
                    max_content_length?: number;
                };
                /** @description Limits on metadata. */
                metadata?: {
                    /** @description Metadata keys that are removed before a memory is stored. Case is ignored, and so is the Unicode normalization. Default: none. */
                    blocked_keys?: string[];
                    /** @description Maximum bytes of the metadata of a memory, as JSON. Default 4096. */
                    max_metadata_size_bytes?: number;
                };
            };
            /** @description Deduplication and proposals. */
            signal_quality?: {
                /** @description What retain does with a memory that nearly repeats one in the bank. */
                dedup?: {
                    /**
                     * @description off: only exact repeats are detected. skip: a near-duplicate is not stored. warn: it is stored, and the answer names the memory that it repeats. update: it replaces that memory and keeps its id. A memory of lower trust neither replaces one of higher trust nor prevents it from being stored: both are stored. Default off.
                     * @enum {string}
                     */
                    action?: "off" | "skip" | "warn" | "update";
                    /** @description Minimum cosine of the word counts, without stop words, at which a memory counts as a near-duplicate. Memories that differ in numbers, negations or document, or in the order of the same words, are never near-duplicates. Default 0.9. */
                    threshold?: number;
                };
                /** @description What retain does with a memory that may take the place of an older one. */
                proposals?: {
                    /**
                     * @description propose: retain compares a memory with the similar ones of the bank, and notes which it may supersede. It costs a search for each memory. Default off.
                     * @enum {string}
                     */
                    mode?: "off" | "propose";
                    /** @description Kinds that are accepted at once: the older memory is superseded in the same write, which can be undone. The others wait for somebody's decision. Default none. */
                    accept?: ("value" | "number" | "negation" | "place" | "near_duplicate")[];
                };
            };
            /** @description How recall ranks memories. */
            retrieval?: {
                /** @description Weights of the strategies in the fused score. */
                weights?: {
                    /** @description Weight of the lexical (BM25) score. Default 1. */
                    lexical?: number;
                    /** @description Weight of the semantic (embedding) score. Default: set by the embedding provider; 0 for mock. */
                    semantic?: number;
                };
                /**
                 * @description How the scores of the strategies are combined: linear adds them, each relative to the best one found; rrf uses only ranks. Default linear.
                 * @enum {string}
                 */
                fusion?: "linear" | "rrf";
                /** @description Weights of the scorers, which rank candidates in addition to the strategies, relative to a lexical weight of 1; 0 disables a scorer. Where a scorer is for a short query, it has its full weight up to 8 search terms, less with each further one, and none from 13. */
                scorers?: {
                    /** @description The lexical score, relative to the highest that the query could reach. Default 0.5. */
                    match?: number;
                    /** @description Adjacent words of the query that are adjacent in the memory. Default 0.2. */
                    phrase?: number;
                    /** @description The sum of the best matches of the same document, relative to the best document found. Default 0.3. */
                    document?: number;
                    /** @description The best match in the same document, by the words of the memory alone, relative to the best document found. Default 0.2. */
                    document_best?: number;
                    /** @description The sum of the best semantic matches in the same document, relative to the best document found. Default 0.3. */
                    document_meaning?: number;
                    /** @description The previous candidate of the same document asks a question that is semantically close to the query. Not for turns of an assistant, which answer all questions. Default 0.2. */
                    question_meaning?: number;
                    /** @description The query names the speaker. Default 0.5. */
                    speaker?: number;
                    /** @description The query names the speaker, who talks about themselves. Default 0.15. */
                    speaker_self?: number;
                    /** @description The speaker is the user (`metadata.speaker`). Full weight for a query that asks for advice; half for a short query with I, my or we; a quarter for one that asks how I or we did something; none for one about what the assistant said. Default 0.7. */
                    user_said?: number;
                    /** @description The speaker is the assistant (`metadata.speaker`), and the query asks what the assistant said, or how I or we did or planned something. Default 0.6. */
                    assistant_said?: number;
                    /** @description Closeness to a time that the query names. Two fifths of it for a query about the present or the future (`Is the gym open today?`), which memories of any time may answer. Default 1.5. */
                    date?: number;
                    /** @description The memory contains a time, and the query asks for one, for a number of days, weeks, months or years, or for what was first or last. Default 0.2. */
                    time_told?: number;
                    /** @description The speaker is the user (`metadata.speaker`) and tells a number, and a short query asks for one (how many, how much, what price …), but not how many different things there are. Default 0.2. */
                    quantity_told?: number;
                    /** @description The memory contains names, and the query asks for a name or a place. Default 0.4. */
                    name_told?: number;
                    /** @description The memory is a short turn of a conversation without user and assistant and contains a time or names. Not in notes and articles: where hardly any candidate in a document asks something. Default 0.3. */
                    details?: number;
                    /** @description The memory is a short question. Default -0.2. */
                    question?: number;
                    /** @description The memory is a short turn of the user (`metadata.speaker`) that tells the assistant how to act from then on (`Always use metric units`, `… when I ask for a recipe`), is trusted and shares a word with a short query that is not about what the assistant said. All such turns together are raised by at most twice the weight. Default 0.5. */
                    instruction?: number;
                    /** @description The user (`metadata.speaker`) states a preference (`I prefer …`, `my favourite …`), and the query asks for advice or what I or we should do. Default 0.6. */
                    preference?: number;
                    /** @description The memory is a turn of fewer than 50 words, without stop words, that starts with a reaction: thanks, praise, agreement or a greeting. Default -0.1. */
                    reaction?: number;
                };
                /** @description Penalty for further hits of the same document when the query asks for several things, such as `which cities` or `how many`. Each earlier hit of the document subtracts it from the score by which a candidate is ordered, relative to a lexical weight of 1. 0: no penalty. Default 0.1. */
                diversity?: number;
                /** @description Maximum milliseconds for embedding a query. After that, recall answers without the semantic strategy, marked degraded. Default 3000. */
                semantic_timeout_ms?: number;
                /** @description Use of the reranker that `reranker` names. */
                rerank?: {
                    /** @description Number of best candidates that the reranker scores. Default 100. */
                    candidates?: number;
                    /** @description Maximum milliseconds for reranking. After that, recall answers in the order without it, marked degraded. Default 1500. */
                    timeout_ms?: number;
                    /** @description Share of the reranker in the new score. Default 0.8. */
                    weight?: number;
                };
                /** @description Other wordings of a query, generated by the language model. */
                rewrite?: {
                    /** @description Whether a recall may request it (`rewrite: true`). Default false. */
                    enabled?: boolean;
                    /** @description Maximum number of wordings to search in addition to the query. Default 3. */
                    max_queries?: number;
                    /** @description Maximum milliseconds for the language model. After that, recall answers without other wordings, marked degraded. Default 3000. */
                    timeout_ms?: number;
                };
                /** @description Reranking by the language model instead of `reranker`. */
                model_rerank?: {
                    /** @description Whether a recall may request it (`model_rerank: true`). Default false. */
                    enabled?: boolean;
                    /** @description Number of best candidates that the language model orders. Default 20. */
                    candidates?: number;
                    /** @description Maximum milliseconds for the language model. After that, recall answers in the order without it, marked degraded. Default 5000. */
                    timeout_ms?: number;
                    /** @description Share of the language model in the new score. Default 0.8. */
                    weight?: number;
                };
                /** @description BM25 parameters. */
                bm25?: {
                    /** @description Saturation of term frequency. Default 0.9. */
                    k1?: number;
                    /** @description Length in words, without stop words, up to which the length of a text has no effect; above it, the score falls in proportion. In notes and articles, which ask nothing, it is three times as long when no embedding is used. Default 25. */
                    pivot?: number;
                    /** @description Replaces the pivot: the length of a text is compared with the average of the bank, from 0 (no effect) to 1 (in proportion). Unset: the pivot is used. */
                    b?: number;
                };
                /** @description Whether the words of its neighbours in the document also count for a memory. Memories without a document have neighbours too: those of the same day before and after them. Default true. */
                context?: boolean;
                /** @description Length in characters above which content is split into passages for search. Default 2000. */
                chunk_max_characters?: number;
            };
            /** @description How reflect answers questions. */
            reflect?: {
                /** @description Maximum milliseconds of a reflect: default and upper limit of `timeout_ms` in a request. A call to the language model may take at most three quarters of this time, so that a call that hangs is detected. Default 60000. */
                timeout_ms?: number;
                /** @description Maximum number of memories in the evidence for an answer. Default 20. */
                max_evidence?: number;
                /** @description Maximum tokens of the evidence in total. Default 6000. */
                max_evidence_tokens?: number;
                /** @description Minimum score of evidence. When no memory reaches it, nor a cosine of 0.5 with the model of `embedding_provider: local`, reflect abstains and calls no model. Default 0.2. */
                min_score?: number;
                /**
                 * @description Minimum trust of evidence. A request may raise it (`min_trust`), not lower it. Default suspect: any.
                 * @enum {string}
                 */
                min_trust?: "suspect" | "untrusted" | "trusted";
            };
            /** @description Facts that the language model derives from memories: [extraction.md](extraction.md). */
            extraction?: {
                /**
                 * @description facts: the language model derives facts from what is stored from then on; they are memories of their own, beside it. Needs a language model that answers in JSON. Default off.
                 * @enum {string}
                 */
                mode?: "off" | "facts";
                /** @description What to look for, in the words of the owner of the bank. */
                instructions?: string;
                /** @description Maximum number of facts from one call of the language model; further ones are dropped. 0: none are derived, and a bank cannot ask for any. Default 20. */
                max_facts_per_job?: number;
                /** @description Maximum tokens of an answer of the language model. Default 4000. */
                max_output_tokens?: number;
                /** @description Maximum milliseconds of a call of the language model; one attempt may take three quarters of the longest `reflect.timeout_ms` of the file. Default 60000. */
                timeout_ms?: number;
            };
            /** @description The purpose of the bank and the tone of answers from it. Reflect passes this text to the language model; it never counts as evidence. */
            mission?: string;
        };
        /** @description The bank's own configuration, the settings in force, and the origin of each value. */
        BankConfigAnswer: {
            /** @description The configuration of a bank as its admins set it. */
            config: components["schemas"]["BankConfig"];
            /** @description The settings in force for the bank: defaults, the server's file, profiles and the bank's own configuration combined. */
            effective: components["schemas"]["BankConfig"];
            /**
             * @description Where each value of `effective` comes from, by its path.
             * @example {
             *       "homeostasis.recall_max_tokens": "bank"
             *     }
             */
            origin: {
                [key: string]: components["schemas"]["SettingOrigin"];
            };
            /**
             * @description The operator's value of each limit, by its path: the bank may set a tighter one, never a looser one.
             * @example {
             *       "homeostasis.recall_max_tokens": 4000
             *     }
             */
            ceilings: {
                [key: string]: unknown;
            };
            /**
             * @description Entity tag of the configuration, for If-Match; also in the ETag header.
             * @example "hXZQ0b1rmzKq7yTnW5cJfA"
             */
            etag: string;
            /**
             * Format: date-time
             * @description Null when the bank has no configuration of its own.
             */
            updated_at: string | null;
            /** @description The principal that set the configuration. */
            updated_by: string | null;
        };
        BankConfigChange: {
            /** @description Null when the configuration was reset. */
            config: components["schemas"]["BankConfig"] | null;
            /**
             * @description Entity tag of the configuration, for If-Match; also in the ETag header.
             * @example "hXZQ0b1rmzKq7yTnW5cJfA"
             */
            etag: string;
            /** Format: date-time */
            updated_at: string;
            updated_by: string | null;
        };
        /** @description A page of the latest changes of the configuration of a bank. */
        BankConfigHistory: {
            /** @description Newest first. The last 100 changes are kept. */
            history: components["schemas"]["BankConfigChange"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        /** @description The members to change; null removes a member. */
        BankConfigPatch: Record<string, unknown>;
        /** @description A grant on this bank. */
        BankGrant: {
            /** @description Principal; one trailing * matches any suffix. */
            principal: string;
            /** @description `*` means all four; `admin` implies none of the others, but its holder may grant permissions on the bank unless access_control.bank_grants is false. */
            permissions: ("read" | "write" | "forget" | "admin" | "*")[];
        };
        /** @description The number of memories that the bank has now, by the day on which they were retained. */
        BankGrowth: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /**
             * @description The first day.
             * @example 2026-01-31
             */
            from: string;
            /**
             * @description The last day.
             * @example 2026-01-31
             */
            until: string;
            /** @description Number of memories that were retained before the first day. */
            count_before: number;
            /** @description Every day of the range, in order. */
            days: components["schemas"]["DayGrowth"][];
        };
        /** @description Statistics of a bank. */
        BankStatistics: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            memory_count: number;
            /**
             * Format: date-time
             * @description Null when the bank is empty.
             */
            last_retained_at: string | null;
            chunk_count: number;
            /** @description Number of memories whose vectors have yet to be made; until then, only the lexical strategy finds them. Absent when recall uses only that strategy. */
            pending_embeddings?: number;
            token_count: number;
            /**
             * Format: date-time
             * @description When the oldest memory was retained.
             */
            first_retained_at: string | null;
            /**
             * Format: date-time
             * @description Earliest occurred_at.
             */
            first_occurred_at: string | null;
            /**
             * Format: date-time
             * @description Latest occurred_at.
             */
            last_occurred_at: string | null;
            /** @description The 100 most frequent tags, in descending order of count. */
            tags: components["schemas"]["TagCount"][];
            /** @description The 100 most frequent speakers, in descending order of count. */
            speakers: components["schemas"]["SpeakerCount"][];
        };
        /** @description A page of banks. */
        BanksPage: {
            banks: components["schemas"]["Bank"][];
            /** @description Null on the last page. A page before it may have fewer banks than `limit`, or none, when the caller may not read the others. */
            next_cursor: string | null;
        };
        /** @description A message in the form that chat APIs have. Calls of tools and their results (`role: "tool"`) are not stored. */
        ConversationMessage: {
            /** @description Unique in the conversation. Without ids, messages are told apart by their place in it. */
            id?: string;
            /** @description For instance `user` or `assistant`. */
            role: string;
            /** @description A text, or parts: the texts of those of type `text`, `input_text` and `output_text` are kept, each in a line of its own; a message that has parts but no text is not stored. Only a call of a tool may lack it. */
            content?: string | components["schemas"]["MessagePart"][];
            /** @description Who says it. Default: the role. */
            name?: string;
            /**
             * Format: date-time
             * @description When it was said. RFC 3339 with an offset.
             */
            created_at?: string;
            metadata?: components["schemas"]["Metadata"];
            /** @description Not stored. */
            tool_calls?: unknown[];
            /** @description Not stored. */
            tool_call_id?: string;
        };
        /** @description A conversation in a list. */
        ConversationSummary: {
            conversation_id: string;
            message_count: number;
            /**
             * Format: date-time
             * @description When its newest message was stored.
             */
            last_message_at: string;
        };
        /** @description A page of conversations. */
        ConversationsPage: {
            /** @description Ordered by id. */
            conversations: components["schemas"]["ConversationSummary"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        DayGrowth: {
            /**
             * @description In UTC.
             * @example 2026-01-31
             */
            day: string;
            memory_count: number;
        };
        /** @enum {string} */
        Degradation: "rewrite" | "semantic" | "rerank";
        /** @description What was deleted. */
        DeleteBankAnswer: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Memories that were deleted. */
            deleted_count: number;
            /** @description Whether the bank had a configuration of its own. */
            config_deleted: boolean;
        };
        /** @description The messages that were deleted. */
        DeletedMessages: {
            deleted_count: number;
            /** @description Of the messages, at most 1000. */
            memory_ids: string[];
        };
        DeltaEvent: {
            /** @enum {string} */
            event: "delta";
            data: {
                /** @description The next piece of the answer. */
                text: string;
            };
        };
        DoneEvent: {
            /** @enum {string} */
            event: "done";
            data: components["schemas"]["ReflectConclusion"];
        };
        /** @description The body of every answer with a status of 400 or higher. */
        Error: {
            /** @description Description of the error, for people. */
            detail: string;
            code: components["schemas"]["ErrorCode"];
            /** @description Id of the request, as in X-Request-Id and the log. */
            request_id: string;
            /** @description The invalid fields and what is wrong with each of them. */
            errors?: components["schemas"]["FieldError"][];
            /** @description `configuration_invalid`: what is wrong with the configuration file. */
            problems?: string[];
            /** @description `restart_required`: paths of the configuration file that were changed. */
            changed?: string[];
            /** @description `restart_required`: the changed paths that need a restart. */
            restart_required?: string[];
            /** @description Seconds after which a retry can succeed, as in Retry-After. */
            retry_after_seconds?: number;
        };
        /**
         * @description Error code, for programs.
         *
         *     - `invalid_request`: The request is malformed or breaks a documented limit; `errors` names the fields.
         *     - `invalid_json`: The body is not valid JSON.
         *     - `unauthenticated`: Credentials are missing, wrong or expired.
         *     - `access_denied`: The caller is authenticated but may not do this on this bank.
         *     - `host_not_allowed`: The server does not serve the host that the request names, or not at this address; `detail` names the setting. The Host header must be in `SERVICES_ALLOWED_HOSTS` in dev mode, and in `mcp.allowed_hosts` at `/mcp`; dev mode inside another app answers on loopback addresses only.
         *     - `not_found`: No such route, memory, bank or source.
         *     - `method_not_allowed`: The path exists with other methods. The header `Allow` lists them.
         *     - `idempotency_key_reused`: The idempotency key was used before with another body. The key is that of the header `Idempotency-Key`.
         *     - `idempotency_key_in_flight`: A request with this idempotency key is still being worked on. The key is that of the header `Idempotency-Key`.
         *     - `message_conflict`: The conversation has another message under the id of one of these; nothing was stored.
         *     - `conflict`: Other changes of the same resource were made in the meantime; read it and try again.
         *     - `place_taken`: Another memory that is current has the key, or the same content; `memory_ids` names it.
         *     - `higher_trust`: A memory of higher trust than the caller's would be changed or superseded.
         *     - `not_current`: The memory is superseded or retired; restore it before it is changed.
         *     - `configuration_invalid`: The configuration file has problems and was not applied; `problems` lists them.
         *     - `restart_required`: The configuration file has changes that need a restart and was not applied; `restart_required` lists them.
         *     - `precondition_failed`: The precondition of the request does not hold for what is in force. The precondition is its `If-Match` or `If-None-Match`.
         *     - `body_too_large`: The body is longer, deeper or has more elements or lines than the server accepts; `detail` names the limit.
         *     - `answer_too_large`: The answer would be larger than the server allows (`bounds.answer_bytes`); request less.
         *     - `unsupported_media_type`: The route does not accept the form in which the body was sent. That is its Content-Type, its charset or its Content-Encoding.
         *     - `rate_limited`: A per-minute limit is used up; retry after `retry_after_seconds`.
         *     - `quota_exceeded`: A daily quota is used up; `retry_after_seconds` counts to midnight UTC.
         *     - `overloaded`: Too many requests wait for a model; retry after `retry_after_seconds`.
         *     - `too_many_requests`: The caller has as many requests in flight as the server allows (`bounds.requests_per_caller`).
         *     - `too_many_streams`: The caller has as many exports and event streams open as the server allows (`bounds.streams_per_caller`).
         *     - `misconfigured`: The server lacks a setting that the selected auth mode requires; `detail` names it.
         *     - `internal_error`: An unexpected fault. The log has its cause under the same request id.
         *     - `not_supported`: The configured backend cannot do this.
         *     - `model_output_invalid`: A model returned an unusable answer.
         *     - `deadline_exceeded`: The answer was not ready within `timeout_ms` or the limit of the server.
         *     - `server_busy`: The server is at capacity; retry after `retry_after_seconds`.
         *     - `dependency_unavailable`: The vector store or a model is down or did not answer in time.
         *     - `identity_provider_unavailable`: No signing key of the identity provider is available.
         *     - `shutting_down`: The server is stopping; send the request to another instance.
         * @enum {string}
         */
        ErrorCode: "invalid_request" | "invalid_json" | "unauthenticated" | "access_denied" | "host_not_allowed" | "not_found" | "method_not_allowed" | "idempotency_key_reused" | "idempotency_key_in_flight" | "message_conflict" | "conflict" | "place_taken" | "higher_trust" | "not_current" | "configuration_invalid" | "restart_required" | "precondition_failed" | "body_too_large" | "answer_too_large" | "unsupported_media_type" | "rate_limited" | "quota_exceeded" | "overloaded" | "too_many_requests" | "too_many_streams" | "misconfigured" | "internal_error" | "not_supported" | "model_output_invalid" | "deadline_exceeded" | "server_busy" | "dependency_unavailable" | "identity_provider_unavailable" | "shutting_down";
        ErrorEvent: {
            /** @enum {string} */
            event: "error";
            data: components["schemas"]["Error"];
        };
        EvidenceEvent: {
            /** @enum {string} */
            event: "evidence";
            data: {
                /** @description The evidence in the order of the ranking, without numbers; empty with `include_sources: false`. */
                sources: components["schemas"]["Hit"][];
            };
        };
        /** @description The stages that one memory passed in a recall. */
        ExplainRecallAnswer: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /** @description Whether the memory is among the hits. */
            found: boolean;
            /**
             * @description The first reason why the memory is not among the hits. not_in_bank: the bank has no such memory, or it has expired. no_strategy_found_it: it matches the query neither by words nor by meaning. not_a_candidate: found, but ranked too low to be a candidate.
             * @enum {string}
             */
            verdict: "returned" | "not_in_bank" | "filtered" | "no_strategy_found_it" | "not_a_candidate" | "below_min_score" | "cut_by_max_results" | "cut_by_max_tokens";
            /** @description Rank from 1 in the final order, whether or not the memory is a hit. Null when it was not a candidate. */
            rank: number | null;
            /** @description The final score, from 0 to 1. Null when the memory was not a candidate. */
            score: number | null;
            stages: components["schemas"]["ExplainedStages"];
            /** @description The stages that were skipped because a model was down or did not answer in time. Absent when none was skipped. */
            degraded?: components["schemas"]["Degradation"][];
        };
        /** @description A search and the memory to explain. */
        ExplainRecallRequest: {
            /** @example What does Alice drink? */
            query: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /**
             * Format: uuid
             * @description Id of the memory to explain.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            expect: string;
            /** @description Maximum number of hits. Clamped to 1–1000. Default 10. */
            max_results?: number;
            /** @description Maximum tokens of all hits together; the first hit that does not fit ends the list. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description The bank as it was stored at this instant: the memories of then, with their texts, tags and states of then. RFC 3339 with an offset.
             */
            as_of?: string;
            state?: components["schemas"]["StateFilter"];
            /**
             * Format: date-time
             * @description Only memories that, as far as it is told, are valid in the world at this instant. RFC 3339 with an offset.
             */
            valid_at?: string;
            /** @description Only memories with at least this level of trust. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant to which relative times in the query, such as "yesterday" or "two weeks ago", refer; for queries about a past conversation. RFC 3339 with an offset: days, weeks and months are those of the calendar at that offset. Default now, in UTC. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Minimum score. Hits with a lower score are omitted. */
            min_score?: number;
        };
        /** @description The bounds that cut the ranking to the hits. */
        ExplainedBudget: {
            /** @description Every bound that excludes the memory on its own. */
            cut_by: ("min_score" | "max_results" | "max_tokens")[];
            min_score: number;
            /** @description The effective value, after limiting it to 1–1000. */
            max_results: number;
            /** @description The value of the request or the limit of the bank, whichever is lower. Null: no limit. */
            max_tokens: number | null;
            /** @description Tokens of the memory and of all memories ranked before it. */
            tokens_needed: number;
        };
        /** @description The filters of the request. */
        ExplainedFilter: {
            passed: boolean;
            /** @description Every filter that the memory does not satisfy. */
            failed: ("tags" | "document_ids" | "metadata" | "speakers" | "occurred_after" | "occurred_before" | "as_of" | "state" | "valid_at" | "min_trust")[];
        };
        /** @description The strategies combined; absent when only a part of the query found the memory. */
        ExplainedFusion: {
            /** @description Rank from 1, by the strategies alone. */
            rank: number;
            /** @description The sum over the strategies, including their weights. */
            score: number;
        };
        /** @description Search by words. */
        ExplainedLexical: {
            /**
             * @description candidate: returned as a candidate. too_low: found, but ranked below the candidates. no_match: neither the memory nor a neighbour contains a word of the query. filtered: excluded by a filter. off: the strategy is switched off.
             * @enum {string}
             */
            state: "candidate" | "too_low" | "no_match" | "filtered" | "off";
            /** @description Rank from 1 among all memories that the strategy finds for the whole query, not only its candidates. Null when the strategy does not find the memory, or not among the best `beyond`. */
            rank: number | null;
            /** @description From 0 to 1. Null when the strategy has no score for the memory, or its rank is too low for the score to be known. */
            score: number | null;
            /** @description Number of candidates that the strategy returned. */
            candidates: number;
            /** @description The memory is not among the best N, where N is this number; absent otherwise. */
            beyond?: number;
            /** @description The score without the words of neighbours. */
            own_score: number | null;
            terms: {
                /** @description The stems of the words of the query, which are searched for. */
                asked: string[];
                /** @description Those that the memory itself contains. */
                in_memory: string[];
                /** @description Whether neighbours add to the score. Null when the score is not known. */
                from_neighbours: boolean | null;
            };
        };
        ExplainedPart: {
            query: string;
            /** @description Rank from 1 among the candidates of this part. Null when the memory is not among them. */
            rank: number | null;
        };
        /** @description The reranker. */
        ExplainedRerank: {
            /**
             * @description not_judged: ranked below the candidates that were sent to the reranker. degraded: the reranker failed or did not answer in time. off: none is configured.
             * @enum {string}
             */
            state: "judged" | "not_judged" | "degraded" | "off";
            /** @description Rank from 1, by the scores of the reranker alone. */
            rank: number | null;
            /** @description On the scale of the reranker. */
            score: number | null;
        };
        /** @description The scorers, which rank candidates in addition to the strategies. */
        ExplainedScorers: {
            /** @description Rank from 1, by strategies and scorers. */
            rank: number;
            /** @description From 0 to 1. */
            score: number;
            /** @description What each scorer added, including its weight (`retrieval.scorers` in the configuration); scorers that added nothing are omitted. */
            signals: {
                [key: string]: number;
            };
        };
        /** @description Search by meaning. */
        ExplainedSemantic: {
            /**
             * @description As in `lexical`. no_vector: the memory has no embedding (yet). degraded: the query could not be embedded in time.
             * @enum {string}
             */
            state: "candidate" | "too_low" | "no_vector" | "filtered" | "degraded" | "off";
            /** @description Rank from 1 among all memories that the strategy finds for the whole query, not only its candidates. Null when the strategy does not find the memory, or not among the best `beyond`. */
            rank: number | null;
            /** @description From 0 to 1. Null when the strategy has no score for the memory, or its rank is too low for the score to be known. */
            score: number | null;
            /** @description Number of candidates that the strategy returned. */
            candidates: number;
            /** @description The memory is not among the best N, where N is this number; absent otherwise. */
            beyond?: number;
        };
        /** @description The stages in order. Those that the memory did not reach are absent; all are absent when it is not in the bank. */
        ExplainedStages: {
            filter?: components["schemas"]["ExplainedFilter"];
            lexical?: components["schemas"]["ExplainedLexical"];
            semantic?: components["schemas"]["ExplainedSemantic"];
            times?: components["schemas"]["ExplainedTimes"];
            /** @description The parts that the query was split into, whose rankings are interleaved with that of the whole query; absent when it was not split. */
            parts?: components["schemas"]["ExplainedPart"][];
            fusion?: components["schemas"]["ExplainedFusion"];
            scorers?: components["schemas"]["ExplainedScorers"];
            rerank?: components["schemas"]["ExplainedRerank"];
            budget?: components["schemas"]["ExplainedBudget"];
        };
        /** @description The times that the query names; absent when it names none. */
        ExplainedTimes: {
            spans: components["schemas"]["TimeSpan"][];
            /** @description Whether the memory occurred, or for a query of times alone was retained, in a period that was also searched separately, so that it can be a candidate without a rank in a strategy. */
            searched: boolean;
        };
        /** @description The first line of an export. */
        ExportHeader: {
            /** @enum {string} */
            format: "memory-gateway-export";
            /** @enum {number} */
            version: 1;
            /** @description For information only; not read. */
            bank_id?: string;
            /** Format: date-time */
            exported_at?: string;
            /** @description Number of the lines that follow. */
            memory_count?: number;
            /** @description The configuration of a bank as its admins set it. */
            config?: components["schemas"]["BankConfig"];
        };
        ExportLine: components["schemas"]["ExportHeader"] | components["schemas"]["ExportedMemory"];
        /** @description A memory of an export or, with `ended_at`, an earlier version of one. */
        ExportedMemory: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description The whole text of the memory. */
            text: string;
            tags: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened.
             */
            occurred_at: string | null;
            /** Format: date-time */
            retained_at: string;
            /**
             * Format: date-time
             * @description When the memory expires.
             */
            expires_at: string | null;
            document_id: string | null;
            source: string | null;
            /** @description Who said it: a name, `user` or `assistant`. Null when nobody is stated. */
            speaker: string | null;
            message?: components["schemas"]["MessageFields"];
            /** @description How far the memory may be believed, decided when it was written: by its writer, and `suspect` when it looks like an instruction to a model or hides text. */
            trust: components["schemas"]["TrustLevel"];
            /** @description Counts the changes of the memory from 1; in quotes, its entity tag. */
            version: number;
            state: components["schemas"]["MemoryState"];
            /** @description The slot that the memory fills, such as `ada/employer`. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it was so in the world, exclusive.
             */
            valid_until?: string;
            /** @description The memories whose place it took. */
            supersedes?: string[];
            /**
             * Format: uuid
             * @description The memory that took its place.
             */
            superseded_by?: string;
            kind?: components["schemas"]["MemoryKind"];
            /** @description The memories that a fact was derived from. */
            derived_from?: string[];
            /**
             * Format: date-time
             * @description When this version was made; absent of the first one, made at `retained_at`.
             */
            changed_at?: string;
            changed_by?: string;
            reason?: string;
            /** Format: date-time */
            ended_at?: string;
            /** @enum {boolean} */
            redacted?: true;
        };
        /** @description An invalid field and what is wrong with it. */
        FieldError: {
            /** @description The field as the caller wrote it, for instance `items[3].tags`. */
            field: string;
            message: string;
        };
        /** @description The deleted memories or, with dry_run, those that would be deleted. */
        ForgetAnswer: {
            deleted_count: number;
            /** @description Ids of the memories in ascending order, at most 1000. */
            memory_ids: string[];
            /** @description The first 10 memories. Present with dry_run, for a caller that may also read the bank. A repeat with the same idempotency key shows only those that still exist. */
            sample?: components["schemas"]["Memory"][];
        };
        /** @description The memories to delete: those of memory_ids, or all (scope), or those that pass every given filter. */
        ForgetRequest: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            memory_ids: string[];
            /** @description Not allowed with memory_ids. */
            tags?: string & number;
            /** @description Not allowed with memory_ids. */
            document_ids?: string & number;
            /** @description Not allowed with memory_ids. */
            metadata?: string & number;
            /** @description Not allowed with memory_ids. */
            speakers?: string & number;
            /** @description Not allowed with memory_ids. */
            occurred_after?: string & number;
            /** @description Not allowed with memory_ids. */
            occurred_before?: string & number;
            /** @description Not allowed with memory_ids. */
            retained_after?: string & number;
            /** @description Not allowed with memory_ids. */
            retained_before?: string & number;
            /** @description Not allowed with memory_ids. */
            tags_match?: string & number;
            /** @description Not allowed with memory_ids. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with scope. */
            memory_ids?: string & number;
            /** @description Not allowed with scope. */
            tags?: string & number;
            /** @description Not allowed with scope. */
            document_ids?: string & number;
            /** @description Not allowed with scope. */
            metadata?: string & number;
            /** @description Not allowed with scope. */
            speakers?: string & number;
            /** @description Not allowed with scope. */
            occurred_after?: string & number;
            /** @description Not allowed with scope. */
            occurred_before?: string & number;
            /** @description Not allowed with scope. */
            retained_after?: string & number;
            /** @description Not allowed with scope. */
            retained_before?: string & number;
            /** @description Not allowed with scope. */
            tags_match?: string & number;
            /**
             * @description The whole bank; requires the permission `admin`.
             * @enum {string}
             */
            scope: "all";
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with tags. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after?: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before?: string;
            tags_match?: components["schemas"]["TagsMatch"];
            /** @description Not allowed with tags. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with document_ids. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after?: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before?: string;
            /** @description Not allowed with document_ids. */
            tags_match?: string & number;
            /** @description Not allowed with document_ids. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with metadata. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after?: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before?: string;
            /** @description Not allowed with metadata. */
            tags_match?: string & number;
            /** @description Not allowed with metadata. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with speakers. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after?: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before?: string;
            /** @description Not allowed with speakers. */
            tags_match?: string & number;
            /** @description Not allowed with speakers. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with occurred_after. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after?: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before?: string;
            /** @description Not allowed with occurred_after. */
            tags_match?: string & number;
            /** @description Not allowed with occurred_after. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with occurred_before. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after?: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before?: string;
            /** @description Not allowed with occurred_before. */
            tags_match?: string & number;
            /** @description Not allowed with occurred_before. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with retained_after. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before?: string;
            /** @description Not allowed with retained_after. */
            tags_match?: string & number;
            /** @description Not allowed with retained_after. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with retained_before. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained at or after this instant. RFC 3339 with an offset.
             */
            retained_after?: string;
            /**
             * Format: date-time
             * @description Only memories retained before this instant. RFC 3339 with an offset.
             */
            retained_before: string;
            /** @description Not allowed with retained_before. */
            tags_match?: string & number;
            /** @description Not allowed with retained_before. */
            scope?: string & number;
            /** @description Counts the memories and deletes none. Default false. */
            dry_run?: boolean;
        };
        GrantRule: {
            /** @description A bank, or a prefix before one trailing `*`. */
            bank_id: string;
            /** @description A principal, or a prefix before one trailing `*`. */
            principal: string;
            permissions: ("read" | "write" | "forget" | "admin" | "*")[];
            /** @description Path of the grant in the configuration. */
            origin: string;
        };
        GrantedPermission: {
            permission: components["schemas"]["Permission"];
            granted_by: string;
        };
        /** @description The service is ready. */
        HealthAnswer: {
            /**
             * @description The service is ready: the vector store answers.
             * @enum {string}
             */
            status: "ok";
            checks: {
                vector_store: {
                    /** @enum {string} */
                    status: "ok";
                    /** @description Response time in milliseconds. */
                    latency_ms: number;
                };
                /** @description The embedding provider: its condition in the latest calls. This request calls no model. The condition does not affect readiness. */
                embedding: components["schemas"]["ModelHealth"];
                /** @description The language model: its condition in the latest calls. This request calls no model. The condition does not affect readiness. */
                language_model: components["schemas"]["ModelHealth"];
                /** @description The reranker, when there is one: its condition in the latest calls. This request calls no model. The condition does not affect readiness. */
                reranker?: components["schemas"]["ModelHealth"];
                limits_store?: components["schemas"]["LimitsStoreHealth"];
                auth?: components["schemas"]["AuthHealth"];
            };
        };
        HistorySample: {
            /**
             * Format: date-time
             * @description When the step began.
             */
            at: string;
            /** @description Number of requests of callers and webhook sources that ended in the step. */
            requests: number;
            /** @description Requests with a status from 400 to 499, and requests whose client disconnected. */
            client_errors: number;
            /** @description Requests with a status of 500 or higher. */
            server_errors: number;
            /** @description Median duration, accurate to 12 percent; null without requests. */
            p50_ms: number | null;
            /** @description 90th percentile of the durations, accurate to 12 percent; null without requests. */
            p90_ms: number | null;
            /** @description 99th percentile of the durations, accurate to 12 percent; null without requests. */
            p99_ms: number | null;
            /** @description Longest duration; null without requests. */
            max_ms: number | null;
            /** @description Resident memory of the process. */
            rss_bytes: number;
            /** @description Memory that the JavaScript heap uses. */
            heap_used_bytes: number;
        };
        /**
         * @description A memory that a query finds.
         * @example {
         *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
         *       "bank_id": "user-alice",
         *       "text": "Alice prefers tea over coffee.",
         *       "tags": [
         *         "preference"
         *       ],
         *       "metadata": {
         *         "channel": "chat"
         *       },
         *       "occurred_at": null,
         *       "retained_at": "2026-01-05T09:30:00.000Z",
         *       "expires_at": null,
         *       "document_id": null,
         *       "source": null,
         *       "speaker": "Alice",
         *       "trust": "trusted",
         *       "version": 1,
         *       "state": "current",
         *       "score": 0.82
         *     }
         */
        Hit: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description The whole text of the memory. */
            text: string;
            tags: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened.
             */
            occurred_at: string | null;
            /** Format: date-time */
            retained_at: string;
            /**
             * Format: date-time
             * @description When the memory expires.
             */
            expires_at: string | null;
            document_id: string | null;
            source: string | null;
            /** @description Who said it: a name, `user` or `assistant`. Null when nobody is stated. */
            speaker: string | null;
            message?: components["schemas"]["MessageFields"];
            /** @description How far the memory may be believed, decided when it was written: by its writer, and `suspect` when it looks like an instruction to a model or hides text. */
            trust: components["schemas"]["TrustLevel"];
            /** @description Counts the changes of the memory from 1; in quotes, its entity tag. */
            version: number;
            state: components["schemas"]["MemoryState"];
            /** @description The slot that the memory fills, such as `ada/employer`. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it was so in the world, exclusive.
             */
            valid_until?: string;
            /** @description The memories whose place it took. */
            supersedes?: string[];
            /**
             * Format: uuid
             * @description The memory that took its place.
             */
            superseded_by?: string;
            kind?: components["schemas"]["MemoryKind"];
            /** @description The memories that a fact was derived from. */
            derived_from?: string[];
            /**
             * Format: date-time
             * @description When this version was made; absent of the first one, made at `retained_at`.
             */
            changed_at?: string;
            /** @description From 0 to 1; comparable only within one answer. */
            score: number;
            /** @description The passages that matched, best first, when the memory was split. */
            passages?: components["schemas"]["Passage"][];
            scores?: components["schemas"]["HitScores"];
        };
        /** @description Rank and score by strategy, and what the scorers added (`explain`). */
        HitScores: {
            lexical?: components["schemas"]["StrategyScore"];
            semantic?: components["schemas"]["StrategyScore"];
            /** @description What each scorer added, including its weight (`retrieval.scorers` in the configuration). */
            signals?: {
                [key: string]: number;
            };
            /** @description What each strategy added to `sum`, including its weight. The contribution of `semantic` is relative to that of a typical candidate, so it may be negative. */
            contributions?: {
                lexical?: number;
                semantic?: number;
            };
            /** @description The sum of `contributions` and `signals`. The score is 1 / (1 + e^(6.4 - 4 · sum)), unless diversity, a part of the query or a reranker lowered it. */
            sum?: number;
            rerank?: {
                rank: number;
                /** @description On the scale of the reranker. */
                score: number;
            };
        };
        /** @description Numbers of imported, skipped and overwritten memories. */
        ImportBankAnswer: {
            imported: number;
            skipped: number;
            overwritten: number;
        };
        ImportLine: components["schemas"]["ExportHeader"] | components["schemas"]["ExportedMemory"] | components["schemas"]["ImportedMemory"];
        /** @description A memory to import. Members may also be null, which means absent. */
        ImportedMemory: {
            /**
             * @description The memory's text: 1–50,000 characters after trimming, unless the bank's barriers set another limit.
             * @example Alice prefers tea over coffee.
             */
            text: string;
            /** @description For information only; not read. */
            bank_id?: string;
            /** Format: uuid7 */
            memory_id?: string;
            tags?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened. RFC 3339 with an offset.
             */
            occurred_at?: string;
            /**
             * Format: date-time
             * @description When the memory was first retained. Default now. RFC 3339 with an offset.
             */
            retained_at?: string;
            /**
             * Format: date-time
             * @description When the memory expires; must be in the future. RFC 3339 with an offset.
             */
            expires_at?: string;
            /** @description The document or conversation that the memory belongs to. Its neighbours in it help to find it. */
            document_id?: string;
            /** @description Where the memory comes from. */
            source?: string;
            /** @description Who said it: `user`, `assistant` or a name, in visible characters. Default: the text `metadata.speaker`, else the role of a chat message in `metadata.role`. It is kept as `metadata.speaker`. */
            speaker?: string;
            message?: components["schemas"]["MessageFields"];
            /** @description Can lower the trust that memories of the importer have, but not raise it. */
            trust?: components["schemas"]["TrustLevel"];
            version?: number;
            /** @enum {string} */
            state?: "current" | "superseded" | "retired";
            /** @description A slot that holds one fact, such as `ada/employer`: a new memory supersedes the one that stands under the same key. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world. RFC 3339 with an offset.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it is so in the world, exclusive; after `valid_from`. RFC 3339 with an offset.
             */
            valid_until?: string;
            supersedes?: string[];
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            superseded_by?: string;
            /** @enum {string} */
            kind?: "memory" | "fact";
            derived_from?: string[];
            /**
             * Format: date-time
             * @description When this version was made. Default `retained_at`. RFC 3339 with an offset.
             */
            changed_at?: string;
            changed_by?: string;
            reason?: string;
            /**
             * Format: date-time
             * @description Of a version that is not the last: when the next one was made. RFC 3339 with an offset.
             */
            ended_at?: string;
            /** @description Whether what a version said was removed. */
            redacted?: boolean;
        };
        /** @description The place of rate limits, when it is a Valkey or Redis. */
        LimitsStoreHealth: {
            /**
             * @description `degraded`: it is down, and each process counts rate limits for itself.
             * @enum {string}
             */
            status: "ok" | "degraded";
        };
        /** @description The process is up. */
        LiveAnswer: {
            /** @enum {string} */
            status: "ok";
        };
        /** @description A page of memories. */
        MemoriesPage: {
            memories: components["schemas"]["Memory"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
            /** @description Present with `?total=true`. */
            total?: {
                /** @description Number of memories that pass the filters, counted up to 100000. */
                count: number;
                /** @description False when there are more. */
                complete: boolean;
            };
        };
        /**
         * @description A memory of a bank.
         * @example {
         *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
         *       "bank_id": "user-alice",
         *       "text": "Alice prefers tea over coffee.",
         *       "tags": [
         *         "preference"
         *       ],
         *       "metadata": {
         *         "channel": "chat"
         *       },
         *       "occurred_at": null,
         *       "retained_at": "2026-01-05T09:30:00.000Z",
         *       "expires_at": null,
         *       "document_id": null,
         *       "source": null,
         *       "speaker": "Alice",
         *       "trust": "trusted",
         *       "version": 1,
         *       "state": "current"
         *     }
         */
        Memory: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description The whole text of the memory. */
            text: string;
            tags: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened.
             */
            occurred_at: string | null;
            /** Format: date-time */
            retained_at: string;
            /**
             * Format: date-time
             * @description When the memory expires.
             */
            expires_at: string | null;
            document_id: string | null;
            source: string | null;
            /** @description Who said it: a name, `user` or `assistant`. Null when nobody is stated. */
            speaker: string | null;
            message?: components["schemas"]["MessageFields"];
            /** @description How far the memory may be believed, decided when it was written: by its writer, and `suspect` when it looks like an instruction to a model or hides text. */
            trust: components["schemas"]["TrustLevel"];
            /** @description Counts the changes of the memory from 1; in quotes, its entity tag. */
            version: number;
            state: components["schemas"]["MemoryState"];
            /** @description The slot that the memory fills, such as `ada/employer`. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it was so in the world, exclusive.
             */
            valid_until?: string;
            /** @description The memories whose place it took. */
            supersedes?: string[];
            /**
             * Format: uuid
             * @description The memory that took its place.
             */
            superseded_by?: string;
            kind?: components["schemas"]["MemoryKind"];
            /** @description The memories that a fact was derived from. */
            derived_from?: string[];
            /**
             * Format: date-time
             * @description When this version was made; absent of the first one, made at `retained_at`.
             */
            changed_at?: string;
        };
        /**
         * @description fact: derived from other memories by a model. Absent of a memory as it was retained.
         * @enum {string}
         */
        MemoryKind: "memory" | "fact";
        /** @description A memory and its neighbours in the document, which is ordered by `occurred_at`, else `retained_at`. A memory without `document_id` is returned alone. */
        MemoryNeighbours: {
            memory: components["schemas"]["Memory"];
            /** @description In the order of the document; the last one is adjacent to the memory. */
            before: components["schemas"]["Memory"][];
            /** @description In the order of the document; the first one is adjacent to the memory. */
            after: components["schemas"]["Memory"][];
            /** @description Whether the document has more memories before these. */
            more_before: boolean;
            /** @description Whether the document has more memories after these. */
            more_after: boolean;
        };
        /**
         * @description superseded: another memory took its place. retired: somebody took it back.
         * @enum {string}
         */
        MemoryState: "current" | "superseded" | "retired";
        /** @description A version of a memory. */
        MemoryVersion: {
            tags: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened.
             */
            occurred_at: string | null;
            /** Format: date-time */
            retained_at: string;
            /**
             * Format: date-time
             * @description When the memory expires.
             */
            expires_at: string | null;
            document_id: string | null;
            source: string | null;
            /** @description Who said it: a name, `user` or `assistant`. Null when nobody is stated. */
            speaker: string | null;
            message?: components["schemas"]["MessageFields"];
            /** @description How far the memory may be believed, decided when it was written: by its writer, and `suspect` when it looks like an instruction to a model or hides text. */
            trust: components["schemas"]["TrustLevel"];
            /** @description Counts the changes of the memory from 1; in quotes, its entity tag. */
            version: number;
            state: components["schemas"]["MemoryState"];
            /** @description The slot that the memory fills, such as `ada/employer`. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it was so in the world, exclusive.
             */
            valid_until?: string;
            /** @description The memories whose place it took. */
            supersedes?: string[];
            /**
             * Format: uuid
             * @description The memory that took its place.
             */
            superseded_by?: string;
            kind?: components["schemas"]["MemoryKind"];
            /** @description The memories that a fact was derived from. */
            derived_from?: string[];
            /**
             * Format: date-time
             * @description When this version was made.
             */
            changed_at: string;
            /** @description The whole text of the version. */
            content: string;
            /** @description The principal that made this version; null for an anonymous caller. */
            changed_by: string | null;
            /** @description Why it was made. */
            reason: string | null;
            /**
             * Format: date-time
             * @description When the next version was made; null for the last.
             */
            ended_at: string | null;
            /** @description Whether what it said was removed. */
            redacted: boolean;
        };
        /** @description What the memory is in its conversation, which `document_id` names. */
        MessageFields: {
            role: string;
            name?: string;
            id?: string;
            /** @description How many messages stand before it, from 0. */
            position: number;
            /** @description Equal for messages of one role, name and text. */
            digest: string;
        };
        /** @description A part of a message; members that it has besides are ignored. */
        MessagePart: {
            type: string;
            text?: string;
        };
        /** @description A page of a conversation. */
        MessagesPage: {
            /** @description Oldest first. */
            messages: components["schemas"]["StoredMessage"][];
            /** @description For the page of older messages, as `before`; with `after`, for the next page, as `after`. Null on the last page. */
            next_cursor: string | null;
        };
        /** @description A flat object whose values are strings, numbers, booleans or null. Numbers are those of JavaScript: send an id beyond 2^53 as a string. */
        Metadata: {
            [key: string]: string | number | boolean | null;
        };
        /**
         * @description `ok`: the last call was answered. `degraded`: the last call failed, or calls resume after a series of failures. `failing`: so many calls failed in a row that the model counts as down. `unknown`: no call has been made yet.
         * @enum {string}
         */
        ModelCondition: "ok" | "degraded" | "failing" | "unknown";
        ModelHealth: {
            status: components["schemas"]["ModelCondition"];
        };
        /** @description A model that the server uses. */
        ModelInUse: {
            /** @description Registered name of the provider; `custom` for a class of the operator's own. */
            provider: string;
            /** @description The model; null when the provider names none. */
            model: string | null;
            status: components["schemas"]["ModelCondition"];
        };
        /** @description The memory that this one nearly repeats, when the bank detects near-duplicates (`signal_quality.dedup`). */
        NearDuplicate: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /** @description From 0 to 1. */
            similarity: number;
        };
        /** @description A passage of a memory that matched. */
        Passage: {
            text: string;
            /** @description UTF-16 offset of the start of the passage in the text. */
            start: number;
            /** @description UTF-16 offset of the end of the passage, exclusive. */
            end: number;
            score: number;
        };
        PatchMemoryBody: {
            /**
             * @description The memory's text: 1–50,000 characters after trimming, unless the bank's barriers set another limit.
             * @example Alice prefers tea over coffee.
             */
            content?: string;
            /** @description Tags of the memory, by which it can be filtered and deleted. */
            tags?: string[] | null;
            /** @description Members to set; null removes one. */
            metadata?: {
                [key: string]: string | number | boolean | null;
            } | null;
            /** @description Who said it: `user`, `assistant` or a name, in visible characters. Default: the text `metadata.speaker`, else the role of a chat message in `metadata.role`. It is kept as `metadata.speaker`. */
            speaker?: string | null;
            /**
             * Format: date-time
             * @description When the event that the memory describes happened. RFC 3339 with an offset.
             */
            occurred_at?: string | null;
            /**
             * Format: date-time
             * @description When the memory expires; must be in the future. RFC 3339 with an offset.
             */
            expires_at?: string | null;
            /** @description A slot that holds one fact, such as `ada/employer`: a new memory supersedes the one that stands under the same key. */
            key?: string | null;
            /**
             * Format: date-time
             * @description From when on it is so in the world. RFC 3339 with an offset.
             */
            valid_from?: string | null;
            /**
             * Format: date-time
             * @description Until when it is so in the world, exclusive; after `valid_from`. RFC 3339 with an offset.
             */
            valid_until?: string | null;
            /** @description Why, for readers of its versions. */
            reason?: string;
        };
        /** @enum {string} */
        Permission: "read" | "write" | "forget" | "admin";
        PermissionGrant: {
            permission: components["schemas"]["Permission"];
            /** @description The grant or policy that gives the permission. */
            granted_by: string;
        };
        PopMessagesBody: {
            /** @description Number of messages, from the newest on. */
            count: number;
        };
        /** @description The messages that were deleted. */
        PoppedMessages: {
            deleted_count: number;
            /** @description Of the messages, at most 1000. */
            memory_ids: string[];
            /** @description The messages, oldest first; for a caller that may also read the bank, and not for a repeat by idempotency key. */
            messages?: components["schemas"]["StoredMessage"][];
        };
        /**
         * @description That a memory may take the place of an older one.
         * @example {
         *       "id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e60",
         *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
         *       "may_supersede": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5e",
         *       "because": "place",
         *       "created_at": "2026-01-05T09:30:00.000Z",
         *       "state": "open",
         *       "decided_at": null,
         *       "decided_by": null
         *     }
         */
        Proposal: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            may_supersede: string;
            /** @description value, number, negation or place: another one in a statement about the same. near_duplicate: nearly the same words. */
            because: string;
            /** Format: date-time */
            created_at: string;
            state: components["schemas"]["ProposalState"];
            /**
             * Format: date-time
             * @description Null while it is open.
             */
            decided_at: string | null;
            /** @description The principal; null when the settings of the bank decided. */
            decided_by: string | null;
        };
        /** @enum {string} */
        ProposalState: "open" | "accepted" | "dismissed";
        /** @description A page of proposals, newest first. */
        ProposalsPage: {
            proposals: components["schemas"]["Proposal"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        /** @description The hits, best first. */
        RecallAnswer: {
            hits: components["schemas"]["Hit"][];
            /** @description Number of memories that were candidates after filters. It is the same for every max_results up to 100; above that it may be greater, because more memories are looked at. */
            total_available: number;
            /** @description True when max_tokens shortened the list. */
            truncated: boolean;
            usage: components["schemas"]["RecallUsage"];
            /** @description The stages that were skipped because a model was down or did not answer in time. Absent when none was skipped. */
            degraded?: components["schemas"]["Degradation"][];
            trace?: components["schemas"]["Trace"];
        };
        /** @description A search. Requires exactly one of `bank_id` and `banks`. */
        RecallRequest: {
            /** @example What does Alice drink? */
            query: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with bank_id. */
            banks?: string & number;
            /** @description Maximum number of hits. Clamped to 1–1000. Default 10. */
            max_results?: number;
            /** @description Maximum tokens of all hits together; the first hit that does not fit ends the list. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description The bank as it was stored at this instant: the memories of then, with their texts, tags and states of then. RFC 3339 with an offset.
             */
            as_of?: string;
            state?: components["schemas"]["StateFilter"];
            /**
             * Format: date-time
             * @description Only memories that, as far as it is told, are valid in the world at this instant. RFC 3339 with an offset.
             */
            valid_at?: string;
            /** @description Only memories with at least this level of trust. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant to which relative times in the query, such as "yesterday" or "two weeks ago", refer; for queries about a past conversation. RFC 3339 with an offset: days, weeks and months are those of the calendar at that offset. Default now, in UTC. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Minimum score. Hits with a lower score are omitted. */
            min_score?: number;
            /** @description The only strategies to use: `["lexical"]` searches by words and calls no embedding model. Default: those that are enabled (`retrieval.weights`). */
            strategies?: ("lexical" | "semantic")[];
            /** @description Also searches other wordings of the query, generated by the language model; 501 unless enabled on the server (`retrieval.rewrite`). Default false. */
            rewrite?: boolean;
            /** @description Lets the language model order the best candidates; 501 unless enabled on the server (`retrieval.model_rerank`). Default false. */
            model_rerank?: boolean;
            /** @description Adds `scores` to each hit and `trace` to the answer. Default false. */
            explain?: boolean;
        } | {
            /** @example What does Alice drink? */
            query: string;
            /** @description Not allowed with banks. */
            bank_id?: string & number;
            /** @description Several banks, searched in one ranking; used instead of bank_id. */
            banks: string[];
            /** @description Maximum number of hits. Clamped to 1–1000. Default 10. */
            max_results?: number;
            /** @description Maximum tokens of all hits together; the first hit that does not fit ends the list. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description The bank as it was stored at this instant: the memories of then, with their texts, tags and states of then. RFC 3339 with an offset.
             */
            as_of?: string;
            state?: components["schemas"]["StateFilter"];
            /**
             * Format: date-time
             * @description Only memories that, as far as it is told, are valid in the world at this instant. RFC 3339 with an offset.
             */
            valid_at?: string;
            /** @description Only memories with at least this level of trust. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant to which relative times in the query, such as "yesterday" or "two weeks ago", refer; for queries about a past conversation. RFC 3339 with an offset: days, weeks and months are those of the calendar at that offset. Default now, in UTC. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Minimum score. Hits with a lower score are omitted. */
            min_score?: number;
            /** @description The only strategies to use: `["lexical"]` searches by words and calls no embedding model. Default: those that are enabled (`retrieval.weights`). */
            strategies?: ("lexical" | "semantic")[];
            /** @description Also searches other wordings of the query, generated by the language model; 501 unless enabled on the server (`retrieval.rewrite`). Default false. */
            rewrite?: boolean;
            /** @description Lets the language model order the best candidates; 501 unless enabled on the server (`retrieval.model_rerank`). Default false. */
            model_rerank?: boolean;
            /** @description Adds `scores` to each hit and `trace` to the answer. Default false. */
            explain?: boolean;
        };
        RecallUsage: {
            /** @description Tokens (o200k_base) of the returned hits. */
            tokens: number;
        };
        /** @description The version that was emptied. */
        RedactAnswer: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            version: number;
            /** @enum {boolean} */
            redacted: true;
        };
        /**
         * @description The answer with its sources.
         * @example {
         *       "answer": "Alice drinks tea. [1]",
         *       "abstained": false,
         *       "sources": [
         *         {
         *           "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
         *           "bank_id": "user-alice",
         *           "text": "Alice prefers tea over coffee.",
         *           "tags": [
         *             "preference"
         *           ],
         *           "metadata": {
         *             "channel": "chat"
         *           },
         *           "occurred_at": null,
         *           "retained_at": "2026-01-05T09:30:00.000Z",
         *           "expires_at": null,
         *           "document_id": null,
         *           "source": null,
         *           "speaker": "Alice",
         *           "trust": "trusted",
         *           "version": 1,
         *           "state": "current",
         *           "score": 0.82,
         *           "cited": true
         *         }
         *       ],
         *       "usage": {
         *         "tokens": 131,
         *         "input_tokens": 120,
         *         "output_tokens": 11
         *       }
         *     }
         */
        ReflectAnswer: {
            /** @description The answer; `[1]` cites the first source. */
            answer: string;
            /** @description True when the memories do not answer the question. Without any evidence, no model is called. */
            abstained: boolean;
            /** @description The answer according to `response_schema`; absent when reflect abstained. */
            structured?: {
                [key: string]: unknown;
            };
            /** @description True when no citation in the answer names a source; absent otherwise. */
            unverified?: boolean;
            /** @description True when max_tokens cut the answer; absent otherwise. */
            truncated?: boolean;
            /** @description What was not available for the answer. `model`: the language model was not available, so the answer consists of sentences from the memories. Absent when nothing was missing. */
            degraded?: components["schemas"]["ReflectDegradation"][];
            /** @description What the answer cites, in the order of the citation numbers: `[1]` cites the first. With `include_sources: "all"` the rest of the evidence follows in the order of the ranking. Empty with `include_sources: false` and when reflect abstained. */
            sources: components["schemas"]["ReflectSource"][];
            usage: components["schemas"]["ReflectUsage"];
        };
        /** @description The whole answer with its sources. */
        ReflectConclusion: {
            /** @description The answer; `[1]` cites the first source. */
            answer: string;
            /** @description True when the memories do not answer the question. Without any evidence, no model is called. */
            abstained: boolean;
            /** @description The answer according to `response_schema`; absent when reflect abstained. */
            structured?: {
                [key: string]: unknown;
            };
            /** @description True when no citation in the answer names a source; absent otherwise. */
            unverified?: boolean;
            /** @description True when max_tokens cut the answer; absent otherwise. */
            truncated?: boolean;
            /** @description What was not available for the answer. `model`: the language model was not available, so the answer consists of sentences from the memories. Absent when nothing was missing. */
            degraded?: components["schemas"]["ReflectDegradation"][];
            /** @description What the answer cites, in the order of the citation numbers: `[1]` cites the first. With `include_sources: "all"` the rest of the evidence follows in the order of the ranking. Empty with `include_sources: false` and when reflect abstained. */
            sources: components["schemas"]["ReflectSource"][];
        };
        /** @enum {string} */
        ReflectDegradation: "rewrite" | "semantic" | "rerank" | "model";
        /** @description An event of a reflect: its name and its data, which is JSON. */
        ReflectEvent: components["schemas"]["EvidenceEvent"] | components["schemas"]["DeltaEvent"] | components["schemas"]["UsageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        /** @description A question. Requires exactly one of `bank_id` and `banks`. */
        ReflectRequest: {
            /** @example What does Alice drink? */
            query: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not allowed with bank_id. */
            banks?: string & number;
            /** @description Maximum tokens of the answer. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description The bank as it was stored at this instant: the memories of then, with their texts, tags and states of then. RFC 3339 with an offset.
             */
            as_of?: string;
            state?: components["schemas"]["StateFilter"];
            /**
             * Format: date-time
             * @description Only memories that, as far as it is told, are valid in the world at this instant. RFC 3339 with an offset.
             */
            valid_at?: string;
            /** @description Only memories with at least this level of trust. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant to which relative times in the query, such as "yesterday" or "two weeks ago", refer; for queries about a past conversation. RFC 3339 with an offset: days, weeks and months are those of the calendar at that offset. Default now, in UTC. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /**
             * @description Which sources the answer includes: `cited` (default; `true` means the same), the memories that it cites; `all`, after these also the rest of the evidence; false, none.
             * @enum {string|boolean}
             */
            include_sources?: "cited" | "all" | true | false;
            /**
             * @description Instructions for the tone, length, language and form of the answer. They never count as evidence.
             * @example Answer in one sentence, informally.
             */
            instructions?: string;
            /** @description JSON Schema of an object in which the answer is also returned, as `structured`: at most 16 KiB, 8 levels and 256 properties, without references and patterns. 501 when the configured model does not support this. */
            response_schema?: Record<string, unknown>;
            /** @description Maximum milliseconds for the answer; clamped to the limit of the server (`reflect.timeout_ms`). */
            timeout_ms?: number;
        } | {
            /** @example What does Alice drink? */
            query: string;
            /** @description Not allowed with banks. */
            bank_id?: string & number;
            /** @description Several banks, searched in one ranking; used instead of bank_id. */
            banks: string[];
            /** @description Maximum tokens of the answer. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            /** @description Only memories of one of these documents or conversations. */
            document_ids?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * @description Only memories that one of these said, compared without regard to case.
             * @example [
             *       "user"
             *     ]
             */
            speakers?: string[];
            /**
             * Format: date-time
             * @description Only memories that occurred at or after this instant. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Only memories that occurred before this instant. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description The bank as it was stored at this instant: the memories of then, with their texts, tags and states of then. RFC 3339 with an offset.
             */
            as_of?: string;
            state?: components["schemas"]["StateFilter"];
            /**
             * Format: date-time
             * @description Only memories that, as far as it is told, are valid in the world at this instant. RFC 3339 with an offset.
             */
            valid_at?: string;
            /** @description Only memories with at least this level of trust. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant to which relative times in the query, such as "yesterday" or "two weeks ago", refer; for queries about a past conversation. RFC 3339 with an offset: days, weeks and months are those of the calendar at that offset. Default now, in UTC. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /**
             * @description Which sources the answer includes: `cited` (default; `true` means the same), the memories that it cites; `all`, after these also the rest of the evidence; false, none.
             * @enum {string|boolean}
             */
            include_sources?: "cited" | "all" | true | false;
            /**
             * @description Instructions for the tone, length, language and form of the answer. They never count as evidence.
             * @example Answer in one sentence, informally.
             */
            instructions?: string;
            /** @description JSON Schema of an object in which the answer is also returned, as `structured`: at most 16 KiB, 8 levels and 256 properties, without references and patterns. 501 when the configured model does not support this. */
            response_schema?: Record<string, unknown>;
            /** @description Maximum milliseconds for the answer; clamped to the limit of the server (`reflect.timeout_ms`). */
            timeout_ms?: number;
        };
        /**
         * @description A memory that is evidence for an answer.
         * @example {
         *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
         *       "bank_id": "user-alice",
         *       "text": "Alice prefers tea over coffee.",
         *       "tags": [
         *         "preference"
         *       ],
         *       "metadata": {
         *         "channel": "chat"
         *       },
         *       "occurred_at": null,
         *       "retained_at": "2026-01-05T09:30:00.000Z",
         *       "expires_at": null,
         *       "document_id": null,
         *       "source": null,
         *       "speaker": "Alice",
         *       "trust": "trusted",
         *       "version": 1,
         *       "state": "current",
         *       "score": 0.82,
         *       "cited": true
         *     }
         */
        ReflectSource: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description The whole text of the memory. */
            text: string;
            tags: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened.
             */
            occurred_at: string | null;
            /** Format: date-time */
            retained_at: string;
            /**
             * Format: date-time
             * @description When the memory expires.
             */
            expires_at: string | null;
            document_id: string | null;
            source: string | null;
            /** @description Who said it: a name, `user` or `assistant`. Null when nobody is stated. */
            speaker: string | null;
            message?: components["schemas"]["MessageFields"];
            /** @description How far the memory may be believed, decided when it was written: by its writer, and `suspect` when it looks like an instruction to a model or hides text. */
            trust: components["schemas"]["TrustLevel"];
            /** @description Counts the changes of the memory from 1; in quotes, its entity tag. */
            version: number;
            state: components["schemas"]["MemoryState"];
            /** @description The slot that the memory fills, such as `ada/employer`. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it was so in the world, exclusive.
             */
            valid_until?: string;
            /** @description The memories whose place it took. */
            supersedes?: string[];
            /**
             * Format: uuid
             * @description The memory that took its place.
             */
            superseded_by?: string;
            kind?: components["schemas"]["MemoryKind"];
            /** @description The memories that a fact was derived from. */
            derived_from?: string[];
            /**
             * Format: date-time
             * @description When this version was made; absent of the first one, made at `retained_at`.
             */
            changed_at?: string;
            /** @description From 0 to 1; comparable only within one answer. */
            score: number;
            /** @description The passages that matched, best first, when the memory was split. */
            passages?: components["schemas"]["Passage"][];
            scores?: components["schemas"]["HitScores"];
            /** @description Whether the answer cites it. */
            cited: boolean;
        };
        /** @description Tokens and cost of the answer. */
        ReflectUsage: {
            /** @description The sum of input_tokens and output_tokens. */
            tokens: number;
            /** @description Tokens of the prompt, as the language model counts them; 0 when no model was called. */
            input_tokens: number;
            /** @description Tokens of the answer of the language model. */
            output_tokens: number;
            /** @description Cost according to `prices` in the configuration; absent when the model has no price there. */
            cost?: number;
        };
        /** @description The changes that were applied. */
        ReloadAnswer: {
            /** @description Paths in the configuration file that were changed and are now in force. */
            changed: string[];
        };
        /** @description Nothing. */
        ReloadRequest: Record<string, unknown>;
        /** @description Requests, their durations and memory use, in steps. */
        RequestHistory: {
            interval_seconds: number;
            /** @description The steps of the last hour, oldest first. The last step has not ended yet. */
            samples: components["schemas"]["HistorySample"][];
        };
        RestoreMemoryBody: {
            /** @description For readers of its versions. */
            note?: string;
        };
        /**
         * @description The result of storing a memory.
         * @example {
         *       "stored": true,
         *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
         *       "chunk_count": 1,
         *       "deduplicated": false,
         *       "bank_id": "user-alice"
         *     }
         */
        RetainAnswer: {
            /** @description False for an exact repeat, and for a near-duplicate that the bank does not store (`signal_quality.dedup`). Only for callers with `read` on the bank. */
            stored: boolean;
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /** @description Number of passages into which the text was split for search. */
            chunk_count: number;
            /** @description True when nothing was stored: the bank has an exact repeat (the same text, tags, `document_id` and `occurred_at`) or, when `near_duplicate` is present, a near-duplicate in place of which the bank stores no other. `memory_id` is the id of that memory. It is not changed: other fields of the request, such as `expires_at`, `metadata` and `source`, are ignored. */
            deduplicated: boolean;
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description True when the content replaced a near-duplicate and keeps its id. */
            updated?: boolean;
            near_duplicate?: components["schemas"]["NearDuplicate"];
            /** @description The memories whose place it took, by its `key` or `supersedes`; absent when there are none. */
            superseded?: string[];
            /** @description Trust of the memory `memory_id`, when it is below `trusted`: `untrusted` because of its writer, `suspect` when it looks like an instruction to a model or hides text. */
            trust?: components["schemas"]["TrustLevel"];
            /** @description Metadata keys that the bank's barriers removed. */
            redactions?: string[];
        };
        /** @description The result for each memory. */
        RetainBatchAnswer: {
            /** @description In the order of the items. */
            results: components["schemas"]["RetainAnswer"][];
        };
        /** @description Memories to store, all or none. */
        RetainBatchRequest: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            items: components["schemas"]["RetainItem"][];
        };
        /** @description A memory to store in a batch. */
        RetainItem: {
            /**
             * @description The memory's text: 1–50,000 characters after trimming, unless the bank's barriers set another limit.
             * @example Alice prefers tea over coffee.
             */
            content: string;
            /** @description Tags of the memory, by which it can be filtered and deleted. */
            tags?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened. RFC 3339 with an offset.
             */
            occurred_at?: string;
            /**
             * Format: date-time
             * @description When the memory expires; must be in the future. RFC 3339 with an offset.
             */
            expires_at?: string;
            /** @description The document or conversation that the memory belongs to. Its neighbours in it help to find it. */
            document_id?: string;
            /** @description Where the memory comes from. */
            source?: string;
            /** @description Who said it: `user`, `assistant` or a name, in visible characters. Default: the text `metadata.speaker`, else the role of a chat message in `metadata.role`. It is kept as `metadata.speaker`. */
            speaker?: string;
            /** @description A slot that holds one fact, such as `ada/employer`: a new memory supersedes the one that stands under the same key. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world. RFC 3339 with an offset.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it is so in the world, exclusive; after `valid_from`. RFC 3339 with an offset.
             */
            valid_until?: string;
            /** @description Memories of the bank whose place this one takes. */
            supersedes?: string[];
            /** @description Whether the memories of the request replace the document: its other memories are forgotten in the same step. Needs `forget` too. One item of a document that says so is enough. Default false. */
            replace_document?: boolean;
        };
        /** @description A memory to store. */
        RetainRequest: {
            /**
             * @description Id of a bank.
             * @example user-alice
             */
            bank_id: string;
            /**
             * @description The memory's text: 1–50,000 characters after trimming, unless the bank's barriers set another limit.
             * @example Alice prefers tea over coffee.
             */
            content: string;
            /** @description Tags of the memory, by which it can be filtered and deleted. */
            tags?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When the event that the memory describes happened. RFC 3339 with an offset.
             */
            occurred_at?: string;
            /**
             * Format: date-time
             * @description When the memory expires; must be in the future. RFC 3339 with an offset.
             */
            expires_at?: string;
            /** @description The document or conversation that the memory belongs to. Its neighbours in it help to find it. */
            document_id?: string;
            /** @description Where the memory comes from. */
            source?: string;
            /** @description Who said it: `user`, `assistant` or a name, in visible characters. Default: the text `metadata.speaker`, else the role of a chat message in `metadata.role`. It is kept as `metadata.speaker`. */
            speaker?: string;
            /** @description A slot that holds one fact, such as `ada/employer`: a new memory supersedes the one that stands under the same key. */
            key?: string;
            /**
             * Format: date-time
             * @description From when on it is so in the world. RFC 3339 with an offset.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it is so in the world, exclusive; after `valid_from`. RFC 3339 with an offset.
             */
            valid_until?: string;
            /** @description Memories of the bank whose place this one takes. */
            supersedes?: string[];
            /** @description Whether the memories of the request replace the document: its other memories are forgotten in the same step. Needs `forget` too. One item of a document that says so is enough. Default false. */
            replace_document?: boolean;
        };
        RetireMemoryBody: {
            reason: components["schemas"]["RetireReason"];
            /**
             * Format: uuid
             * @description With the reason `superseded`: the memory that took its place.
             */
            by?: string;
            /** @description For readers of its versions. */
            note?: string;
        };
        /**
         * @description superseded: it is so no more. invalidated: it was never so.
         * @enum {string}
         */
        RetireReason: "superseded" | "invalidated" | "other";
        /** @description What a rollback changed, or would change. */
        RollbackAnswer: {
            /** @description Memories that are current again, or are again as they were. */
            restored: number;
            /** @description Memories that are current no more. */
            retired: number;
            /** @description Memories that had been retained by then but have been forgotten, or their versions of then redacted. */
            unrecoverable: number;
        };
        RollbackBankBody: {
            /**
             * Format: date-time
             * @description The bank is set back to this instant, which must not lie in the future. RFC 3339 with an offset.
             */
            to: string;
            /** @description Only counts what would change. Default false. */
            dry_run?: boolean;
        };
        /** @enum {string} */
        SettingOrigin: "default" | "file" | "profile" | "bank";
        /** @description A webhook source and its state. */
        Source: {
            id: string;
            /** @enum {string} */
            type: "webhook";
            target_bank: string;
            /** @description False after an event that was not retained, until the next one that is. */
            healthy: boolean;
            message: string;
            /** Format: date-time */
            last_event_at: string | null;
            /** @description Events retained since the start. */
            accepted: number;
            /** @description Events refused since the start, bad signatures included. */
            rejected: number;
        };
        /** @description The webhook sources. */
        SourcesAnswer: {
            sources: components["schemas"]["Source"][];
        };
        SpeakerCount: {
            speaker: string;
            memory_count: number;
        };
        /**
         * @description `current`; `history`: superseded and retired memories; or `all`. Default current.
         * @enum {string}
         */
        StateFilter: "current" | "history" | "all";
        /** @description A message of a conversation. */
        StoredMessage: {
            /** @description As it was sent. */
            id: string | null;
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            role: string;
            name: string | null;
            content: string;
            /**
             * Format: date-time
             * @description When it was said, or stored where that was not told.
             */
            created_at: string;
        };
        /** @description How a strategy ranks a hit. */
        StrategyScore: {
            /** @description Rank from 1 among the candidates of the strategy; absent when the memory was not one of them. */
            rank?: number;
            /** @description From 0 to 1. */
            score: number;
        };
        TagCount: {
            tag: string;
            memory_count: number;
        };
        /**
         * @description Whether a memory must have any or all of the tags. Default any. A search or list without tags ignores it.
         * @enum {string}
         */
        TagsMatch: "any" | "all";
        TimeSpan: {
            /** Format: date-time */
            from: string;
            /**
             * Format: date-time
             * @description Exclusive.
             */
            to: string;
        };
        /** @description The time of each stage, and what each strategy returned (`explain`). */
        Trace: {
            stages: components["schemas"]["TraceStage"][];
            strategies: components["schemas"]["TraceStrategy"][];
        };
        TraceStage: {
            name: string;
            /** @description When the stage began, relative to the start of the first stage. */
            start_ms: number;
            duration_ms: number;
        };
        TraceStrategy: {
            name: string;
            weight: number;
            /** @description Number of candidates that the strategy returned. */
            candidates: number;
        };
        /** @enum {string} */
        TrustLevel: "suspect" | "untrusted" | "trusted";
        UsageEvent: {
            /** @enum {string} */
            event: "usage";
            data: components["schemas"]["ReflectUsage"];
        };
        /** @description The versions of a memory. */
        VersionsAnswer: {
            /** @description The last one first. */
            versions: components["schemas"]["MemoryVersion"][];
        };
        /** @description The caller, as the service sees it. */
        WhoamiAnswer: {
            principal: string | null;
            actor: components["schemas"]["Actor"] | null;
            tenant_id: string | null;
            on_behalf_of: string | null;
            /** @description Permissions of the caller on the bank that `?bank_id=` names. */
            permissions?: components["schemas"]["GrantedPermission"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Id of the request, as in the log: that of the request if it is valid, else a new one. */
        "X-Request-Id": string;
        /** @description Seconds after which a retry can succeed, where the server knows it. */
        "Retry-After": number;
        /** @description The rate limits of the caller on the bank for this operation, as a list of structured fields (draft-ietf-httpapi-ratelimit-headers-10), for instance `"recall";q=100;w=60`: `q` operations or items in `w` seconds. Only where a limit is configured. */
        "RateLimit-Policy": string;
        /** @description What is left of each of them, for instance `"recall";r=50;t=30`: `r` operations or items until the limit begins anew in `t` seconds. Of several banks, it is the one with the least left. */
        RateLimit: string;
        /** @description The credentials that are expected (RFC 9110), in the modes with tokens. */
        "WWW-Authenticate": string;
        /** @description `true` where the answer is that to an earlier request with the same Idempotency-Key. */
        "Idempotent-Replayed": "true";
        /** @description The version of the configuration, for If-Match and If-None-Match. */
        ETag: string;
        /** @description The name of the file that a browser saves. */
        "Content-Disposition": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is up. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["LiveAnswer"];
                };
            };
        };
    };
    healthLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process is up. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["LiveAnswer"];
                };
            };
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The service is ready. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "checks": {
                     *         "vector_store": {
                     *           "status": "ok",
                     *           "latency_ms": 0.2
                     *         },
                     *         "embedding": {
                     *           "status": "ok"
                     *         },
                     *         "language_model": {
                     *           "status": "unknown"
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["HealthAnswer"];
                };
            };
        };
    };
    retain: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters; sent once. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description A memory to store. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bank_id": "user-alice",
                 *       "content": "Alice prefers tea over coffee.",
                 *       "tags": [
                 *         "preference"
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RetainRequest"];
            };
        };
        responses: {
            /** @description The result of storing a memory. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "stored": true,
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "chunk_count": 1,
                     *       "deduplicated": false,
                     *       "bank_id": "user-alice"
                     *     }
                     */
                    "application/json": components["schemas"]["RetainAnswer"];
                };
            };
        };
    };
    retainBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters; sent once. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description Memories to store, all or none. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bank_id": "user-alice",
                 *       "items": [
                 *         {
                 *           "content": "Alice lives in Lyon."
                 *         },
                 *         {
                 *           "content": "Alice plays the cello."
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["RetainBatchRequest"];
            };
        };
        responses: {
            /** @description The result for each memory. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "results": [
                     *         {
                     *           "stored": true,
                     *           "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *           "chunk_count": 1,
                     *           "deduplicated": false,
                     *           "bank_id": "user-alice"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RetainBatchAnswer"];
                };
            };
        };
    };
    recall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A search. Requires exactly one of `bank_id` and `banks`. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bank_id": "user-alice",
                 *       "query": "What does Alice drink?",
                 *       "max_results": 5
                 *     }
                 */
                "application/json": components["schemas"]["RecallRequest"];
            };
        };
        responses: {
            /** @description The hits, best first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "hits": [
                     *         {
                     *           "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *           "bank_id": "user-alice",
                     *           "text": "Alice prefers tea over coffee.",
                     *           "tags": [
                     *             "preference"
                     *           ],
                     *           "metadata": {
                     *             "channel": "chat"
                     *           },
                     *           "occurred_at": null,
                     *           "retained_at": "2026-01-05T09:30:00.000Z",
                     *           "expires_at": null,
                     *           "document_id": null,
                     *           "source": null,
                     *           "speaker": "Alice",
                     *           "trust": "trusted",
                     *           "version": 1,
                     *           "state": "current",
                     *           "score": 0.82
                     *         }
                     *       ],
                     *       "total_available": 1,
                     *       "truncated": false,
                     *       "usage": {
                     *         "tokens": 7
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["RecallAnswer"];
                };
            };
        };
    };
    explainRecall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A search and the memory to explain. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bank_id": "user-alice",
                 *       "query": "What does Alice drink?",
                 *       "expect": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f"
                 *     }
                 */
                "application/json": components["schemas"]["ExplainRecallRequest"];
            };
        };
        responses: {
            /** @description The stages that one memory passed in a recall. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "found": false,
                     *       "verdict": "not_in_bank",
                     *       "rank": null,
                     *       "score": null,
                     *       "stages": {}
                     *     }
                     */
                    "application/json": components["schemas"]["ExplainRecallAnswer"];
                };
            };
        };
    };
    forget: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters; sent once. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The memories to delete: those of memory_ids, or all (scope), or those that pass every given filter. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bank_id": "user-alice",
                 *       "tags": [
                 *         "preference"
                 *       ],
                 *       "dry_run": true
                 *     }
                 */
                "application/json": components["schemas"]["ForgetRequest"];
            };
        };
        responses: {
            /** @description The deleted memories or, with dry_run, those that would be deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted_count": 1,
                     *       "memory_ids": [
                     *         "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ForgetAnswer"];
                };
            };
        };
    };
    listBanks: {
        parameters: {
            query?: {
                /** @description Number of entries in one page. Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of banks. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "banks": [
                     *         {
                     *           "bank_id": "user-alice",
                     *           "memory_count": 1,
                     *           "last_retained_at": "2026-01-05T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["BanksPage"];
                };
            };
        };
    };
    getBank: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A bank. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bank_id": "user-alice",
                     *       "memory_count": 1,
                     *       "last_retained_at": "2026-01-05T09:30:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Bank"];
                };
            };
        };
    };
    deleteBank: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bank_id": "user-alice",
                     *       "deleted_count": 1,
                     *       "config_deleted": false
                     *     }
                     */
                    "application/json": components["schemas"]["DeleteBankAnswer"];
                };
            };
        };
    };
    getBankStatistics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Statistics of a bank. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bank_id": "user-alice",
                     *       "memory_count": 1,
                     *       "last_retained_at": "2026-01-05T09:30:00.000Z",
                     *       "chunk_count": 1,
                     *       "token_count": 7,
                     *       "first_retained_at": "2026-01-05T09:30:00.000Z",
                     *       "first_occurred_at": null,
                     *       "last_occurred_at": null,
                     *       "tags": [
                     *         {
                     *           "tag": "preference",
                     *           "memory_count": 1
                     *         }
                     *       ],
                     *       "speakers": [
                     *         {
                     *           "speaker": "Alice",
                     *           "memory_count": 1
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["BankStatistics"];
                };
            };
        };
    };
    listMemories: {
        parameters: {
            query?: {
                /** @description Number of entries in one page. Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description An untagged memory never matches a tag filter. */
                tags?: string[];
                /** @description Whether a memory must have any or all of the tags. Default any. A search or list without tags ignores it. */
                tags_match?: components["schemas"]["TagsMatch"];
                /**
                 * @description A JSON object of strings, numbers, booleans and nulls. Only memories whose metadata contains all of its members.
                 * @example {"topic":"tea"}
                 */
                metadata?: string;
                /**
                 * @description Only memories that one of these said, compared without regard to case.
                 * @example [
                 *       "user"
                 *     ]
                 */
                speakers?: string[];
                /** @description Only memories that occurred at or after this instant. RFC 3339 with an offset. */
                occurred_after?: string;
                /** @description Only memories that occurred before this instant. RFC 3339 with an offset. */
                occurred_before?: string;
                /** @description Only memories retained at or after this instant. RFC 3339 with an offset. */
                retained_after?: string;
                /** @description Only memories retained before this instant. RFC 3339 with an offset. */
                retained_before?: string;
                document_id?: string;
                /** @description The bank as it was stored at this instant: the memories of then, with their texts, tags and states of then. RFC 3339 with an offset. */
                as_of?: string;
                /** @description `current`; `history`: superseded and retired memories; or `all`. Default current. */
                state?: components["schemas"]["StateFilter"];
                /** @description Only memories that, as far as it is told, are valid in the world at this instant. RFC 3339 with an offset. */
                valid_at?: string;
                /** @description Only memories with at least this level of trust. Default: all. */
                min_trust?: components["schemas"]["TrustLevel"];
                /** @description Only memories of exactly this level. */
                trust?: components["schemas"]["TrustLevel"];
                /** @description Which memories come first. A cursor used with the opposite order continues from its position in the opposite direction. Default newest. */
                order?: "newest" | "oldest";
                /** @description Number of memories to skip, from the start or the cursor. Default 0. */
                offset?: number;
                /** @description Adds `total` to the answer. Default false. */
                total?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of memories. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memories": [],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["MemoriesPage"];
                };
            };
        };
    };
    getMemory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A memory of a bank. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "bank_id": "user-alice",
                     *       "text": "Alice prefers tea over coffee.",
                     *       "tags": [
                     *         "preference"
                     *       ],
                     *       "metadata": {
                     *         "channel": "chat"
                     *       },
                     *       "occurred_at": null,
                     *       "retained_at": "2026-01-05T09:30:00.000Z",
                     *       "expires_at": null,
                     *       "document_id": null,
                     *       "source": null,
                     *       "speaker": "Alice",
                     *       "trust": "trusted",
                     *       "version": 1,
                     *       "state": "current"
                     *     }
                     */
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    patchMemory: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of a memory is its version in quotes.
                 * @example "hXZQ0b1rmzKq7yTnW5cJfA"
                 */
                "if-match"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Alice prefers green tea.",
                 *       "reason": "She said so today."
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["PatchMemoryBody"];
                /**
                 * @example {
                 *       "content": "Alice prefers green tea.",
                 *       "reason": "She said so today."
                 *     }
                 */
                "application/json": components["schemas"]["PatchMemoryBody"];
            };
        };
        responses: {
            /** @description A memory of a bank. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "bank_id": "user-alice",
                     *       "text": "Alice prefers tea over coffee.",
                     *       "tags": [
                     *         "preference"
                     *       ],
                     *       "metadata": {
                     *         "channel": "chat"
                     *       },
                     *       "occurred_at": null,
                     *       "retained_at": "2026-01-05T09:30:00.000Z",
                     *       "expires_at": null,
                     *       "document_id": null,
                     *       "source": null,
                     *       "speaker": "Alice",
                     *       "trust": "trusted",
                     *       "version": 1,
                     *       "state": "current"
                     *     }
                     */
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    getBankGrowth: {
        parameters: {
            query?: {
                /** @description Number of days. Clamped to 1–366. Default 30. */
                days?: number;
                /**
                 * @description The last day. Default today.
                 * @example 2026-01-31
                 */
                until?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of memories that the bank has now, by the day on which they were retained. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "bank_id": "user-alice",
                     *       "from": "2026-01-04",
                     *       "until": "2026-01-05",
                     *       "count_before": 7,
                     *       "days": [
                     *         {
                     *           "day": "2026-01-04",
                     *           "memory_count": 0
                     *         },
                     *         {
                     *           "day": "2026-01-05",
                     *           "memory_count": 3
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["BankGrowth"];
                };
            };
        };
    };
    getMemoryNeighbours: {
        parameters: {
            query?: {
                /** @description Number of memories before it. Clamped to 0–50. Default 5. */
                before?: number;
                /** @description Number of memories after it. Clamped to 0–50. Default 5. */
                after?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A memory and its neighbours in the document, which is ordered by `occurred_at`, else `retained_at`. A memory without `document_id` is returned alone. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memory": {
                     *         "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *         "bank_id": "user-alice",
                     *         "text": "Alice prefers tea over coffee.",
                     *         "tags": [
                     *           "preference"
                     *         ],
                     *         "metadata": {
                     *           "channel": "chat"
                     *         },
                     *         "occurred_at": null,
                     *         "retained_at": "2026-01-05T09:30:00.000Z",
                     *         "expires_at": null,
                     *         "document_id": null,
                     *         "source": null,
                     *         "speaker": "Alice",
                     *         "trust": "trusted",
                     *         "version": 1,
                     *         "state": "current"
                     *       },
                     *       "before": [],
                     *       "after": [],
                     *       "more_before": false,
                     *       "more_after": false
                     *     }
                     */
                    "application/json": components["schemas"]["MemoryNeighbours"];
                };
            };
        };
    };
    retireMemory: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of a memory is its version in quotes.
                 * @example "hXZQ0b1rmzKq7yTnW5cJfA"
                 */
                "if-match"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "reason": "invalidated",
                 *       "note": "She never said this."
                 *     }
                 */
                "application/json": components["schemas"]["RetireMemoryBody"];
            };
        };
        responses: {
            /** @description A memory of a bank. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "bank_id": "user-alice",
                     *       "text": "Alice prefers tea over coffee.",
                     *       "tags": [
                     *         "preference"
                     *       ],
                     *       "metadata": {
                     *         "channel": "chat"
                     *       },
                     *       "occurred_at": null,
                     *       "retained_at": "2026-01-05T09:30:00.000Z",
                     *       "expires_at": null,
                     *       "document_id": null,
                     *       "source": null,
                     *       "speaker": "Alice",
                     *       "trust": "trusted",
                     *       "version": 1,
                     *       "state": "current"
                     *     }
                     */
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    restoreMemory: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of a memory is its version in quotes.
                 * @example "hXZQ0b1rmzKq7yTnW5cJfA"
                 */
                "if-match"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "note": "It is so after all."
                 *     }
                 */
                "application/json": components["schemas"]["RestoreMemoryBody"];
            };
        };
        responses: {
            /** @description A memory of a bank. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "bank_id": "user-alice",
                     *       "text": "Alice prefers tea over coffee.",
                     *       "tags": [
                     *         "preference"
                     *       ],
                     *       "metadata": {
                     *         "channel": "chat"
                     *       },
                     *       "occurred_at": null,
                     *       "retained_at": "2026-01-05T09:30:00.000Z",
                     *       "expires_at": null,
                     *       "document_id": null,
                     *       "source": null,
                     *       "speaker": "Alice",
                     *       "trust": "trusted",
                     *       "version": 1,
                     *       "state": "current"
                     *     }
                     */
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    listVersions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The versions of a memory. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "versions": [
                     *         {
                     *           "tags": [
                     *             "preference"
                     *           ],
                     *           "metadata": {
                     *             "channel": "chat"
                     *           },
                     *           "occurred_at": null,
                     *           "retained_at": "2026-01-05T09:30:00.000Z",
                     *           "expires_at": null,
                     *           "document_id": null,
                     *           "source": null,
                     *           "speaker": "Alice",
                     *           "trust": "trusted",
                     *           "version": 1,
                     *           "state": "current",
                     *           "changed_at": "2026-01-05T09:30:00.000Z",
                     *           "content": "Alice prefers tea over coffee.",
                     *           "changed_by": "user:alice",
                     *           "reason": null,
                     *           "ended_at": null,
                     *           "redacted": false
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["VersionsAnswer"];
                };
            };
        };
    };
    redactVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
                /** @description Number of the version. */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version that was emptied. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "version": 1,
                     *       "redacted": true
                     *     }
                     */
                    "application/json": components["schemas"]["RedactAnswer"];
                };
            };
        };
    };
    rollbackBank: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "to": "2026-01-05T09:30:00.000Z",
                 *       "dry_run": true
                 *     }
                 */
                "application/json": components["schemas"]["RollbackBankBody"];
            };
        };
        responses: {
            /** @description What a rollback changed, or would change. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "restored": 1,
                     *       "retired": 2,
                     *       "unrecoverable": 0
                     *     }
                     */
                    "application/json": components["schemas"]["RollbackAnswer"];
                };
            };
        };
    };
    listConversations: {
        parameters: {
            query?: {
                /** @description Number of entries in one page. Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of conversations. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "conversations": [
                     *         {
                     *           "conversation_id": "support-7",
                     *           "message_count": 2,
                     *           "last_message_at": "2026-01-05T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ConversationsPage"];
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description Number of messages in one page. Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of a page: the messages before it. Default: the newest messages. */
                before?: string;
                /** @description `memory_id` of a message: the messages after it; or `next_cursor` of such a page. Not with `before`. */
                after?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of a conversation. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "messages": [
                     *         {
                     *           "id": null,
                     *           "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *           "role": "user",
                     *           "name": null,
                     *           "content": "I moved to Lyon last week.",
                     *           "created_at": "2026-01-05T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["MessagesPage"];
                };
            };
        };
    };
    appendMessages: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters; sent once. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "messages": [
                 *         {
                 *           "role": "user",
                 *           "content": "I moved to Lyon last week."
                 *         },
                 *         {
                 *           "role": "assistant",
                 *           "content": "How do you like it?"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["AppendMessagesBody"];
            };
        };
        responses: {
            /** @description What became of the messages. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "stored": 1,
                     *       "repeated": 0,
                     *       "memory_ids": [
                     *         "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AppendMessagesAnswer"];
                };
            };
        };
    };
    popMessages: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 printable ASCII characters; sent once. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "count": 1
                 *     }
                 */
                "application/json": components["schemas"]["PopMessagesBody"];
            };
        };
        responses: {
            /** @description The messages that were deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted_count": 1,
                     *       "memory_ids": [
                     *         "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f"
                     *       ],
                     *       "messages": [
                     *         {
                     *           "id": null,
                     *           "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *           "role": "user",
                     *           "name": null,
                     *           "content": "I moved to Lyon last week.",
                     *           "created_at": "2026-01-05T09:30:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["PoppedMessages"];
                };
            };
        };
    };
    deleteConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                conversation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The messages that were deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted_count": 1,
                     *       "memory_ids": [
                     *         "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["DeletedMessages"];
                };
            };
        };
    };
    listProposals: {
        parameters: {
            query?: {
                /** @description Number of entries in one page. Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Default open. */
                state?: "open" | "accepted" | "dismissed";
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of proposals, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "proposals": [
                     *         {
                     *           "id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e60",
                     *           "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *           "may_supersede": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5e",
                     *           "because": "place",
                     *           "created_at": "2026-01-05T09:30:00.000Z",
                     *           "state": "open",
                     *           "decided_at": null,
                     *           "decided_by": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProposalsPage"];
                };
            };
        };
    };
    acceptProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                proposal_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description That a memory may take the place of an older one. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e60",
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "may_supersede": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5e",
                     *       "because": "place",
                     *       "created_at": "2026-01-05T09:30:00.000Z",
                     *       "state": "open",
                     *       "decided_at": null,
                     *       "decided_by": null
                     *     }
                     */
                    "application/json": components["schemas"]["Proposal"];
                };
            };
        };
    };
    dismissProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                proposal_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description That a memory may take the place of an older one. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e60",
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "may_supersede": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5e",
                     *       "because": "place",
                     *       "created_at": "2026-01-05T09:30:00.000Z",
                     *       "state": "open",
                     *       "decided_at": null,
                     *       "decided_by": null
                     *     }
                     */
                    "application/json": components["schemas"]["Proposal"];
                };
            };
        };
    };
    undoProposal: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                proposal_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description That a memory may take the place of an older one. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e60",
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "may_supersede": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5e",
                     *       "because": "place",
                     *       "created_at": "2026-01-05T09:30:00.000Z",
                     *       "state": "open",
                     *       "decided_at": null,
                     *       "decided_by": null
                     *     }
                     */
                    "application/json": components["schemas"]["Proposal"];
                };
            };
        };
    };
    getBankConfig: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bank's own configuration, the settings in force, and the origin of each value. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "config": {
                     *         "mission": "Be brief."
                     *       },
                     *       "effective": {
                     *         "mission": "Be brief."
                     *       },
                     *       "origin": {
                     *         "mission": "bank"
                     *       },
                     *       "ceilings": {
                     *         "reflect.max_evidence": 20
                     *       },
                     *       "etag": "\"hXZQ0b1rmzKq7yTnW5cJfA\"",
                     *       "updated_at": "2026-01-05T09:30:00.000Z",
                     *       "updated_by": "user:alice"
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigAnswer"];
                };
            };
        };
    };
    putBankConfig: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of a memory is its version in quotes.
                 * @example "hXZQ0b1rmzKq7yTnW5cJfA"
                 */
                "if-match"?: string;
                /**
                 * @description Only `*`: nothing is changed if a configuration is set. Not together with If-Match.
                 * @example *
                 */
                "if-none-match"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "What Alice tells her assistant.",
                 *       "homeostasis": {
                 *         "recall_max_tokens": 2000
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["BankConfig"];
            };
        };
        responses: {
            /** @description The bank's own configuration, the settings in force, and the origin of each value. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "config": {
                     *         "mission": "Be brief."
                     *       },
                     *       "effective": {
                     *         "mission": "Be brief."
                     *       },
                     *       "origin": {
                     *         "mission": "bank"
                     *       },
                     *       "ceilings": {
                     *         "reflect.max_evidence": 20
                     *       },
                     *       "etag": "\"hXZQ0b1rmzKq7yTnW5cJfA\"",
                     *       "updated_at": "2026-01-05T09:30:00.000Z",
                     *       "updated_by": "user:alice"
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigAnswer"];
                };
            };
        };
    };
    resetBankConfig: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of a memory is its version in quotes.
                 * @example "hXZQ0b1rmzKq7yTnW5cJfA"
                 */
                "if-match"?: string;
                /**
                 * @description Only `*`: nothing is changed if a configuration is set. Not together with If-Match.
                 * @example *
                 */
                "if-none-match"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bank's own configuration, the settings in force, and the origin of each value. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "config": {
                     *         "mission": "Be brief."
                     *       },
                     *       "effective": {
                     *         "mission": "Be brief."
                     *       },
                     *       "origin": {
                     *         "mission": "bank"
                     *       },
                     *       "ceilings": {
                     *         "reflect.max_evidence": 20
                     *       },
                     *       "etag": "\"hXZQ0b1rmzKq7yTnW5cJfA\"",
                     *       "updated_at": "2026-01-05T09:30:00.000Z",
                     *       "updated_by": "user:alice"
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigAnswer"];
                };
            };
        };
    };
    patchBankConfig: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Entity tags, or `*` for any configuration that is set. Nothing is changed unless one of them is in force. That of a memory is its version in quotes.
                 * @example "hXZQ0b1rmzKq7yTnW5cJfA"
                 */
                "if-match"?: string;
                /**
                 * @description Only `*`: nothing is changed if a configuration is set. Not together with If-Match.
                 * @example *
                 */
                "if-none-match"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "homeostasis": {
                 *         "recall_max_tokens": 2000
                 *       },
                 *       "mission": null
                 *     }
                 */
                "application/merge-patch+json": components["schemas"]["BankConfigPatch"];
                /**
                 * @example {
                 *       "homeostasis": {
                 *         "recall_max_tokens": 2000
                 *       },
                 *       "mission": null
                 *     }
                 */
                "application/json": components["schemas"]["BankConfigPatch"];
            };
        };
        responses: {
            /** @description The bank's own configuration, the settings in force, and the origin of each value. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "config": {
                     *         "mission": "Be brief."
                     *       },
                     *       "effective": {
                     *         "mission": "Be brief."
                     *       },
                     *       "origin": {
                     *         "mission": "bank"
                     *       },
                     *       "ceilings": {
                     *         "reflect.max_evidence": 20
                     *       },
                     *       "etag": "\"hXZQ0b1rmzKq7yTnW5cJfA\"",
                     *       "updated_at": "2026-01-05T09:30:00.000Z",
                     *       "updated_by": "user:alice"
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigAnswer"];
                };
            };
        };
    };
    getBankConfigHistory: {
        parameters: {
            query?: {
                /** @description Number of entries in one page. Clamped to 1–10. Default 5. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of the latest changes of the configuration of a bank. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "history": [],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigHistory"];
                };
            };
        };
    };
    exportBank: {
        parameters: {
            query?: {
                /** @description Whether superseded and retired memories follow the current ones, and each memory has its earlier versions after it. Default false. */
                versions?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description NDJSON. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    importBank: {
        parameters: {
            query?: {
                /** @description Whether a memory that the bank already has is skipped or overwritten. Default skip. */
                on_conflict?: "skip" | "overwrite";
                /** @description apply: the configuration in the export, if any, replaces that of the bank, and the memories are checked under it. Default ignore. */
                config?: "ignore" | "apply";
            };
            header?: {
                /** @description 1 to 255 printable ASCII characters; sent once. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {"format":"memory-gateway-export","version":1}
                 *     {"text":"Alice prefers tea over coffee."}
                 */
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Numbers of imported, skipped and overwritten memories. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "imported": 2,
                     *       "skipped": 0,
                     *       "overwritten": 0
                     *     }
                     */
                    "application/json": components["schemas"]["ImportBankAnswer"];
                };
            };
        };
    };
    whoami: {
        parameters: {
            query?: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The caller, as the service sees it. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "principal": "user:alice",
                     *       "actor": null,
                     *       "tenant_id": null,
                     *       "on_behalf_of": null
                     *     }
                     */
                    "application/json": components["schemas"]["WhoamiAnswer"];
                };
            };
        };
    };
    getAccess: {
        parameters: {
            query?: {
                /** @description Number of entries in one page. Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The permissions of a principal on each bank, and the rule that gives each of them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "principal": "user:alice",
                     *       "tenant_id": null,
                     *       "on_behalf_of": null,
                     *       "banks": [
                     *         {
                     *           "bank_id": "user-alice",
                     *           "permissions": [
                     *             {
                     *               "permission": "read",
                     *               "granted_by": "default_policy owner_only"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AccessPage"];
                };
            };
        };
    };
    reflect: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description A question. Requires exactly one of `bank_id` and `banks`. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "bank_id": "user-alice",
                 *       "query": "What does Alice drink?"
                 *     }
                 */
                "application/json": components["schemas"]["ReflectRequest"];
            };
        };
        responses: {
            /** @description The answer. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReflectAnswer"];
                    "text/event-stream": string;
                };
            };
        };
    };
    listSources: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook sources. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sources": [
                     *         {
                     *           "id": "shop",
                     *           "type": "webhook",
                     *           "target_bank": "orders",
                     *           "healthy": true,
                     *           "message": "ok",
                     *           "last_event_at": "2026-01-05T09:30:00.000Z",
                     *           "accepted": 17,
                     *           "rejected": 0
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SourcesAnswer"];
                };
            };
        };
    };
    adminListBanks: {
        parameters: {
            query?: {
                /** @description Absent: the banks of all tenants. */
                tenant_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Banks with their tenants. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "banks": [
                     *         {
                     *           "tenant_id": null,
                     *           "bank_id": "user-alice",
                     *           "memory_count": 1,
                     *           "last_retained_at": "2026-01-05T09:30:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AdminBanksAnswer"];
                };
            };
        };
    };
    adminGetBank: {
        parameters: {
            query?: {
                /** @description Absent: the banks of all tenants. */
                tenant_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Banks with their tenants. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "banks": [
                     *         {
                     *           "tenant_id": null,
                     *           "bank_id": "user-alice",
                     *           "memory_count": 1,
                     *           "last_retained_at": "2026-01-05T09:30:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["AdminBanksAnswer"];
                };
            };
        };
    };
    adminGetBankConfig: {
        parameters: {
            query?: {
                /** @description Tenant of the bank. Absent: the bank of callers without a tenant. */
                tenant_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bank's own configuration, the settings in force, and the origin of each value. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "config": {
                     *         "mission": "Be brief."
                     *       },
                     *       "effective": {
                     *         "mission": "Be brief."
                     *       },
                     *       "origin": {
                     *         "mission": "bank"
                     *       },
                     *       "ceilings": {
                     *         "reflect.max_evidence": 20
                     *       },
                     *       "etag": "\"hXZQ0b1rmzKq7yTnW5cJfA\"",
                     *       "updated_at": "2026-01-05T09:30:00.000Z",
                     *       "updated_by": "user:alice"
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigAnswer"];
                };
            };
        };
    };
    adminResetBankConfig: {
        parameters: {
            query?: {
                /** @description Tenant of the bank. Absent: the bank of callers without a tenant. */
                tenant_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bank's own configuration, the settings in force, and the origin of each value. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "config": {
                     *         "mission": "Be brief."
                     *       },
                     *       "effective": {
                     *         "mission": "Be brief."
                     *       },
                     *       "origin": {
                     *         "mission": "bank"
                     *       },
                     *       "ceilings": {
                     *         "reflect.max_evidence": 20
                     *       },
                     *       "etag": "\"hXZQ0b1rmzKq7yTnW5cJfA\"",
                     *       "updated_at": "2026-01-05T09:30:00.000Z",
                     *       "updated_by": "user:alice"
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigAnswer"];
                };
            };
        };
    };
    reloadConfiguration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description Nothing. */
        requestBody: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReloadRequest"];
            };
        };
        responses: {
            /** @description The changes that were applied. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changed": [
                     *         "homeostasis"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ReloadAnswer"];
                };
            };
        };
    };
    adminGetHistory: {
        parameters: {
            query?: {
                /** @description Only steps that began at or after this instant. RFC 3339 with an offset. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Requests, their durations and memory use, in steps. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "interval_seconds": 10,
                     *       "samples": [
                     *         {
                     *           "at": "2026-01-05T09:30:00.000Z",
                     *           "requests": 12,
                     *           "client_errors": 1,
                     *           "server_errors": 0,
                     *           "p50_ms": 1.5,
                     *           "p90_ms": 4.2,
                     *           "p99_ms": 8.9,
                     *           "max_ms": 9.3,
                     *           "rss_bytes": 130000000,
                     *           "heap_used_bytes": 60000000
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["RequestHistory"];
                };
            };
        };
    };
    adminGetStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The providers and settings of this process and their state. Contains no secrets and no addresses. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": "0.1.0",
                     *       "started_at": "2026-01-05T09:30:00.000Z",
                     *       "auth": {
                     *         "mode": "jwt_oidc",
                     *         "missing": []
                     *       },
                     *       "access_control": true,
                     *       "vector_store": {
                     *         "provider": "postgres",
                     *         "status": "ok",
                     *         "latency_ms": 0.8,
                     *         "connections": {
                     *           "size": 10,
                     *           "in_use": 1,
                     *           "waiting": 0
                     *         },
                     *         "vectors_pending": 0
                     *       },
                     *       "embedding": {
                     *         "provider": "local",
                     *         "model": "use-lite-en-1",
                     *         "dimensions": 512,
                     *         "status": "ok"
                     *       },
                     *       "language_model": {
                     *         "provider": "mock",
                     *         "model": null,
                     *         "status": "ok"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AdminStatus"];
                };
            };
        };
    };
    adminGetAccess: {
        parameters: {
            query?: {
                /**
                 * @description Absent: an anonymous caller; required outside dev mode, where there is none.
                 * @example user:alice
                 */
                principal?: string;
                /** @description Absent: callers without a tenant. */
                tenant_id?: string;
                /**
                 * @description The principal on whose behalf the caller acts.
                 * @example user:alice
                 */
                on_behalf_of?: string;
                /** @description Number of entries in one page. Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The permissions of a principal on each bank, and the rule that gives each of them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "principal": "user:alice",
                     *       "tenant_id": null,
                     *       "on_behalf_of": null,
                     *       "banks": [
                     *         {
                     *           "bank_id": "user-alice",
                     *           "permissions": [
                     *             {
                     *               "permission": "read",
                     *               "granted_by": "default_policy owner_only"
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AccessPage"];
                };
            };
        };
    };
    adminGetAccessRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The rules of the configuration file. Grants in the configuration of a bank add to them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "enabled": true,
                     *       "default_policy": "owner_only",
                     *       "owner_patterns": [
                     *         "user-{id}"
                     *       ],
                     *       "grants": [
                     *         {
                     *           "bank_id": "team",
                     *           "principal": "user:*",
                     *           "permissions": [
                     *             "read"
                     *           ],
                     *           "origin": "access_grants[0]"
                     *         }
                     *       ],
                     *       "truncated": false
                     *     }
                     */
                    "application/json": components["schemas"]["AccessRules"];
                };
            };
        };
    };
    adminCheckAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The permission to check. The bank need not exist. */
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "principal": "user:alice",
                 *       "bank_id": "team",
                 *       "permission": "read"
                 *     }
                 */
                "application/json": components["schemas"]["AccessCheck"];
            };
        };
        responses: {
            /** @description The decision on one permission. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "allowed": false,
                     *       "granted_by": null,
                     *       "reason": "Principal 'user:alice' is denied 'write' on bank 'team'"
                     *     }
                     */
                    "application/json": components["schemas"]["AccessDecision"];
                };
            };
        };
    };
    ingestWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                source_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "content": "Order 17 was shipped."
                 *     }
                 */
                "application/json": unknown;
            };
        };
        responses: {
            /** @description The result of storing a memory. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "stored": true,
                     *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
                     *       "chunk_count": 1,
                     *       "deduplicated": false,
                     *       "bank_id": "user-alice"
                     *     }
                     */
                    "application/json": components["schemas"]["RetainAnswer"];
                };
            };
        };
    };
}
