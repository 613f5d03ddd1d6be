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
        /** Whether the process is up */
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
        /** Whether the process is up */
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
        /** Whether the service is ready for requests */
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
         * @description Stores one memory with one id. An exact repeat stores nothing and returns the id of the existing memory, unless its writer has a higher level of trust: then it replaces that memory. `trust` is in the answer when the level of the memory is below `trusted`.
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
         * @description Exactly one of bank_id and banks. Filters apply inside every strategy; a bank that does not exist is empty.
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
         * Why a recall returns a memory, or does not
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
         * Delete memories by id or tag, or the whole bank
         * @description Exactly one of memory_ids, tags and scope. `scope: "all"` needs the permission `admin`.
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
        /** The banks that the caller may read */
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
        /** One bank */
        get: operations["getBank"];
        put?: never;
        post?: never;
        /**
         * Delete a bank
         * @description Deletes its memories, its configuration and the history of that, in one transaction. A forget with `scope: all` keeps the configuration. The deletion counts as a forget. For a bank that does not exist the counts are zero.
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
        /** Figures of one bank */
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
        /** The memories of a bank, newest first unless asked otherwise */
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
        /** One memory */
        get: operations["getMemory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/banks/{bank_id}/growth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How one bank grew, by day */
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
        /** One memory in its document, with what stands before and after it */
        get: operations["getMemoryNeighbours"];
        put?: never;
        post?: never;
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
         * The configuration of a bank
         * @description What the bank itself sets, what is in force, and where each value comes from.
         */
        get: operations["getBankConfig"];
        /**
         * Set the configuration of a bank
         * @description Replaces the configuration. A bank can set tighter limits than the server's file, never looser ones. The configuration is in force at once on this replica, and within two seconds on every other. `retrieval` and `reflect` apply to requests on this bank, and to requests on several banks when all of them have the same values.
         */
        put: operations["putBankConfig"];
        post?: never;
        /** Reset the configuration of a bank */
        delete: operations["resetBankConfig"];
        options?: never;
        head?: never;
        /**
         * Change some of the configuration of a bank
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
        /** The earlier configurations of a bank */
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
         * A bank as NDJSON
         * @description A header line, then every memory, oldest first: the state of the bank when the request came.
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
         * Read an export back, all of it or none
         * @description Memories keep their ids and times and pass the same checks as in a retain. They count for `import_per_minute` and `import_per_day` and not for the limits of retain; the import counts once for `global_per_minute`.
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
         * The identity of the caller, as the service sees it
         * @description With ?bank_id=, also the permissions of the caller on that bank and the grant or policy that each comes from.
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
         * What the caller may do, bank by bank
         * @description The banks that the caller may read, each with every permission and the grant or policy that it comes from.
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
         * @description The answer cites its sources as [1], [2]. Without evidence the service abstains and calls no model.
         *
         *     With `Accept: text/event-stream` the answer is streamed: `evidence` (`{sources}`), any number of `delta` (`{text}`), `usage`, then `done` (the members of the JSON answer but sources and usage; its `answer` is the whole text), or `error` (the body of an error answer). A comment is sent after every 15 seconds of silence. An error before the `evidence` event is answered with an ordinary error status.
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
        /** The webhook sources and their state */
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
        /** The banks of all tenants */
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
        /** The banks with one id, one entry for each tenant */
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
        /** The configuration of a bank, as its admins see it */
        get: operations["adminGetBankConfig"];
        put?: never;
        post?: never;
        /**
         * Reset the configuration that the admins of a bank have set
         * @description Grants in that configuration are removed, too.
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
         * @description Applies all changes or none, as SIGHUP does: a file with a problem, or with a change that needs a restart, changes nothing.
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
         * Requests, their durations and memory over the last hour
         * @description Of this process alone, since its start.
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
         * What the server runs with, and its state
         * @description Of this process. It asks the store as `GET /health` does, and calls no model.
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
         * What a principal may do, bank by bank
         * @description Every bank of the tenant, each with the permissions of the principal and the grant or policy that each comes from.
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
        /** The rules of access control in the configuration file */
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
         * Whether a principal may do something, and why
         * @description Decides as for a request of that principal. It changes nothing and counts as no refusal.
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
         * @description Reads the content, and metadata, tags and occurred_at if present; ignores other members.
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
        /** @description The bank need not exist. */
        AccessCheck: {
            /**
             * @description Absent: an anonymous caller, whom only dev mode knows.
             * @example user:alice
             */
            principal?: string;
            /** @description Absent: callers without a tenant. */
            tenant_id?: string;
            /**
             * @description The principal that it acts for.
             * @example user:alice
             */
            on_behalf_of?: string;
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            permission: components["schemas"]["Permission"];
        };
        /** @description The decision on one permission. */
        AccessDecision: {
            allowed: boolean;
            /** @description The grant or policy that allows; null when none does. */
            granted_by: string | null;
            /** @description A sentence; of a denial the detail that the caller gets. */
            reason: string;
        };
        /** @description What a principal may do on each bank, and by which rule. */
        AccessPage: {
            principal: string | null;
            tenant_id: string | null;
            on_behalf_of: string | null;
            banks: components["schemas"]["BankAccess"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
        };
        /** @description The rules of the configuration file. Grants in the configuration of a bank add to them. */
        AccessRules: {
            /** @description False: everybody may do everything. */
            enabled: boolean;
            /**
             * @description What decides when no grant does.
             * @enum {string}
             */
            default_policy: "owner_only" | "open" | "deny";
            /** @description The banks that a principal owns, for owner_only. */
            owner_patterns: string[];
            /** @description The first 1000. */
            grants: components["schemas"]["GrantRule"][];
            /** @description True when there are more. */
            truncated: boolean;
        };
        /** @description Who acts, in jwt_oidc mode. */
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
             * @description Name of a bank.
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
        /** @description What this process runs with, and the state of it. It holds no secret and no address. */
        AdminStatus: {
            /** @description Of the gateway. */
            version: string;
            /**
             * Format: date-time
             * @description When this process became ready to listen.
             */
            started_at: string;
            auth: {
                /**
                 * @description `host`: the program that the gateway is a part of authenticates.
                 * @enum {string}
                 */
                mode: "dev" | "api_key" | "jwt_hs256" | "jwt_oidc" | "host";
                /** @description Environment variables that the mode needs and that are not set. */
                missing: string[];
            };
            /** @description Whether grants and policies are enforced. */
            access_control: boolean;
            vector_store: {
                /** @description The registered name. `custom`: a class of the operator's own. */
                provider: string;
                /**
                 * @description What the store answers now. `unhealthy`: it reports a fault. `failed`: the check ended in an error.
                 * @enum {string}
                 */
                status: "ok" | "unhealthy" | "failed" | "timed_out";
                /** @description Milliseconds that its answer took; null when it is not `ok`. */
                latency_ms: number | null;
                /** @description To the database, where the store has one. */
                connections?: {
                    /** @description At most. */
                    size: number;
                    in_use: number;
                    /** @description Callers that wait for one. */
                    waiting: number;
                };
                /** @description Memories that are known to wait for their vectors; absent where vectors are written with the memory. */
                vectors_pending?: number;
            };
            embedding: {
                /** @description The registered name. `custom`: a class of the operator's own. */
                provider: string;
                /** @description The model, where the provider names one. */
                model: string | null;
                /** @description Length of every vector. */
                dimensions: number;
                status: components["schemas"]["ModelCondition"];
            };
            language_model: components["schemas"]["ModelInUse"];
            reranker?: components["schemas"]["ModelInUse"];
        };
        /** @description Present only while every request to the memory routes is answered with 500 because of the configuration. */
        AuthHealth: {
            /** @enum {string} */
            status: "misconfigured";
            /** @description Environment variables that SERVICE_AUTH_MODE needs and that are not set. */
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
             * @description Name of a bank.
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
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            permissions: components["schemas"]["PermissionGrant"][];
        };
        BankConfig: {
            /** @description Grants on this bank, beside access_grants. */
            access?: components["schemas"]["BankGrant"][];
            /** @description What the bank holds, for people. */
            description?: string;
            /** @description A profile of the configuration file whose sections hold for the bank, under what the bank sets itself. */
            profile?: string;
            /** @description What keeps a bank within its means. */
            homeostasis?: {
                /** @description Tokens of hits in one recall: default and ceiling of the request's max_tokens. */
                recall_max_tokens?: number;
                /** @description Tokens of one reflect answer: default and ceiling of the request's max_tokens. */
                reflect_max_tokens?: number;
                /** @description Bytes of one content as UTF-8. */
                retain_max_content_bytes?: number;
                /** @description Token buckets. A bucket holds a minute's worth. */
                rate_limits?: {
                    /** @description Retained items a minute, for each principal and bank. Unset: no limit. */
                    retain_per_minute?: number;
                    /** @description Recalls a minute, for each principal and bank. Unset: no limit. */
                    recall_per_minute?: number;
                    /** @description Reflects a minute, for each principal and bank. Unset: no limit. */
                    reflect_per_minute?: number;
                    /** @description Forgets a minute, for each principal and bank. Unset: no limit. */
                    forget_per_minute?: number;
                    /** @description Memories that imports bring a minute, for each principal and bank. Unset: no limit. */
                    import_per_minute?: number;
                    /** @description Operations of any of these kinds, and changes of the bank's configuration, together; an import is one, however many memories it brings, a minute, for each principal and bank. Unset: no limit. */
                    global_per_minute?: number;
                };
                /** @description Daily quotas. */
                quotas?: {
                    /** @description Retained items a UTC day, for each bank. Unset: no limit. */
                    retain_per_day?: number;
                    /** @description Memories that imports bring a UTC day, for each bank. Unset: no limit. */
                    import_per_day?: number;
                    /** @description Reflects a UTC day, for each bank. Unset: no limit. */
                    reflect_per_day?: number;
                    /** @description Calls of the language model a UTC day, for each bank. Unset: no limit. */
                    model_calls_per_day?: number;
                    /** @description Tokens of the language model, of prompts and answers together; before a call its prompt and the most that it may answer are reckoned with, a UTC day, for each bank. Unset: no limit. */
                    model_tokens_per_day?: number;
                };
            };
            /** @description What may enter a bank. */
            barriers?: {
                /** @description What a content must be. */
                validation?: {
                    /** @description Characters of one content after trimming. Default 50000. */
                    max_content_length?: number;
                };
                /** @description What metadata may hold. */
                metadata?: {
                    /** @description Metadata keys that are removed before anything is stored, compared without regard to case. Default none. */
                    blocked_keys?: string[];
                    /** @description Bytes of one metadata map as JSON. Default 4096. */
                    max_metadata_size_bytes?: number;
                };
            };
            /** @description What is worth keeping. */
            signal_quality?: {
                /** @description What retain does with a memory that nearly repeats one of the bank. */
                dedup?: {
                    /**
                     * @description off: only exact repeats are recognised. skip: a near-duplicate is not stored. warn: it is stored, and the answer names what it repeats. update: it takes the place of what it repeats, under its id. A memory of lower trust neither replaces nor keeps out one of higher trust: both are stored. Default off.
                     * @enum {string}
                     */
                    action?: "off" | "skip" | "warn" | "update";
                    /** @description Cosine of the word counts, stop words left out, from which on a memory counts as a near-duplicate. Memories that differ in numbers, negations or document, or in the order of the same words, never do. Default 0.9. */
                    threshold?: number;
                };
            };
            /** @description How recall ranks. */
            retrieval?: {
                /** @description Weights of the strategies in the fused score. */
                weights?: {
                    /** @description Weight of the lexical (BM25) score. Default 1. */
                    lexical?: number;
                    /** @description Weight of the semantic (embedding) score. Default: what the embedding provider says of itself; mock 0. */
                    semantic?: number;
                };
                /**
                 * @description How the strategies are put together: linear adds up their scores, each as a share of the best one found; rrf looks at ranks alone. Default linear.
                 * @enum {string}
                 */
                fusion?: "linear" | "rrf";
                /** @description Weights of what a candidate is judged by beside the strategies, next to a lexical weight of 1; 0 switches one off. */
                scorers?: {
                    /** @description Share of the best lexical score that the query could reach. Default 0.5. */
                    match?: number;
                    /** @description Adjacent words of the query that are adjacent in the memory. Default 0.2. */
                    phrase?: number;
                    /** @description The sum of the best matches of the same document, relative to the best document found. Default 0.3. */
                    document?: number;
                    /** @description The best match in the same document, by the memory's own words, relative to the best document found. Default 0.2. */
                    document_best?: number;
                    /** @description The sum of the nearest in meaning in the same document, relative to the best document found. Default 0.3. */
                    document_meaning?: number;
                    /** @description The query names the speaker. Default 0.5. */
                    speaker?: number;
                    /** @description The query names the speaker, who speaks of themselves. Default 0.15. */
                    speaker_self?: number;
                    /** @description The user speaks (`metadata.speaker`). Full weight for a query that asks for advice, half for one with I, my or we, which falls from 8 search terms to none at 13, a quarter for one that asks how I or we did something, none for one about what the assistant said. Default 0.7. */
                    user_said?: number;
                    /** @description The assistant speaks (`metadata.speaker`), and the query asks what the assistant said, or how I or we did or planned something. Default 0.6. */
                    assistant_said?: number;
                    /** @description Closeness to a time that the query names. Default 1.5. */
                    date?: number;
                    /** @description Contains a time, and the query asks for one. Default 0.2. */
                    time_told?: number;
                    /** @description Contains names, and the query asks for a name or a place. Default 0.4. */
                    name_told?: number;
                    /** @description A short turn of a conversation without user and assistant that contains a time or names. Default 0.3. */
                    details?: number;
                    /** @description The memory is a short question. Default -0.2. */
                    question?: number;
                    /** @description A turn of fewer than 50 words, stop words left out, that starts as a reaction: thanks, praise, agreement, a greeting. Default -0.1. */
                    reaction?: number;
                };
                /** @description What each earlier hit of the same document subtracts from the score of a candidate, beside a lexical weight of 1, when the query asks for several things (which, what … s, how many). 0: nothing. Default 0.1. */
                diversity?: number;
                /** @description Milliseconds that the embedding of a query may take; past them recall answers without it, marked degraded. Default 3000. */
                semantic_timeout_ms?: number;
                /** @description How the reranker is used, when `reranker` names one. */
                rerank?: {
                    /** @description How many of the best candidates the reranker judges. Default 100. */
                    candidates?: number;
                    /** @description Milliseconds that it may take; past them recall answers in the order without it, marked degraded. Default 1500. */
                    timeout_ms?: number;
                    /** @description Share of the reranker in the new score. Default 0.8. */
                    weight?: number;
                };
                /** @description Other wordings of a query, by the language model. */
                rewrite?: {
                    /** @description Whether a recall may ask for it (`rewrite: true`). Default false. */
                    enabled?: boolean;
                    /** @description Wordings that are searched beside the query. Default 3. */
                    max_queries?: number;
                    /** @description Milliseconds that the language model may take; past them recall answers without it, marked degraded. Default 3000. */
                    timeout_ms?: number;
                };
                /** @description Reranking by the language model, in the place of `reranker`. */
                model_rerank?: {
                    /** @description Whether a recall may ask for it (`model_rerank: true`). Default false. */
                    enabled?: boolean;
                    /** @description How many of the best candidates it orders. Default 20. */
                    candidates?: number;
                    /** @description Milliseconds that it may take; past them recall answers in the order without it, marked degraded. Default 5000. */
                    timeout_ms?: number;
                    /** @description Its share in the new score. Default 0.8. */
                    weight?: number;
                };
                /** @description BM25 parameters. */
                bm25?: {
                    /** @description Saturation of term frequency. Default 0.9. */
                    k1?: number;
                    /** @description Words, stop words left out, up to which the length of a text has no effect; above it the score falls in proportion. Default 25. */
                    pivot?: number;
                    /** @description Replaces the pivot: the length of a text is compared with the average of the bank, from 0 (no effect) to 1 (in proportion). Unset: the pivot is used. */
                    b?: number;
                };
                /** @description Whether a memory is also found by the words of its neighbours in the document. Default true. */
                context?: boolean;
                /** @description Content over this length is split into passages for search. Default 2000. */
                chunk_max_characters?: number;
            };
            /** @description How reflect answers. */
            reflect?: {
                /** @description Milliseconds that one reflect may take: default and ceiling of the request's timeout_ms. A call of the language model may take three quarters of it at most, so that one that hangs is noticed. Default 60000. */
                timeout_ms?: number;
                /** @description Memories that an answer may rest on. Default 20. */
                max_evidence?: number;
                /** @description Tokens of these memories together. Default 6000. */
                max_evidence_tokens?: number;
                /** @description The least score: when no memory reaches it, reflect abstains and asks no model. Default 0.2. */
                min_score?: number;
                /**
                 * @description The least trust of evidence; a request may ask for more (`min_trust`), not for less. Default suspect: any.
                 * @enum {string}
                 */
                min_trust?: "suspect" | "untrusted" | "trusted";
            };
            /** @description What the bank is for and how answers from it should sound. Reflect tells it to the language model; it never counts as evidence. */
            mission?: string;
        };
        /** @description What a bank sets, what is in force, and where each value comes from. */
        BankConfigAnswer: {
            /** @description The configuration of a bank as its admins set it. */
            config: components["schemas"]["BankConfig"];
            /** @description What is in force for the bank: defaults, the server's file, profiles and the bank's own configuration together. */
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
             * @description Entity tag of the configuration, for If-Match; also in the header ETag.
             * @example "r17"
             */
            etag: string;
            /**
             * Format: date-time
             * @description Null when the bank has no configuration of its own.
             */
            updated_at: string | null;
            /** @description The principal who set it. */
            updated_by: string | null;
        };
        BankConfigChange: {
            /** @description Null where it was taken back. */
            config: components["schemas"]["BankConfig"] | null;
            /**
             * @description Entity tag of the configuration, for If-Match; also in the header ETag.
             * @example "r17"
             */
            etag: string;
            /** Format: date-time */
            updated_at: string;
            updated_by: string | null;
        };
        /** @description The earlier configurations of a bank. */
        BankConfigHistory: {
            /** @description Newest first; the last 100 changes. */
            history: components["schemas"]["BankConfigChange"][];
        };
        /** @description The members to change; null removes a member. */
        BankConfigPatch: Record<string, unknown>;
        /** @description A grant on this bank. */
        BankGrant: {
            /** @description Principal; one trailing * matches any rest. */
            principal: string;
            /** @description `*` is all four; `admin` implies none of the others, but whoever has it may grant rights on the bank unless access_control.bank_grants is false. */
            permissions: ("read" | "write" | "forget" | "admin" | "*")[];
        };
        /** @description The memories that the bank has now, by the day on which they were retained. */
        BankGrowth: {
            /**
             * @description Name of a bank.
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
            /** @description Memories that were retained before the first day. */
            count_before: number;
            /** @description Every day of the range, in order. */
            days: components["schemas"]["DayGrowth"][];
        };
        /** @description Figures of a bank. */
        BankStatistics: {
            /**
             * @description Name of a bank.
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
            /** @description Memories whose vectors are still to be made; until then they are found by words. Absent when recall goes by words alone. */
            pending_embeddings?: number;
            token_count: number;
            /**
             * Format: date-time
             * @description Of the oldest memory.
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
            /** @description By falling count; the first 100. */
            tags: components["schemas"]["TagCount"][];
        };
        /** @description A page of banks. */
        BanksPage: {
            banks: components["schemas"]["Bank"][];
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
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Memories that were deleted. */
            deleted_count: number;
            /** @description Whether the bank had a configuration of its own. */
            config_deleted: boolean;
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
        /** @description The body of every answer with a status from 400 up. */
        Error: {
            /** @description For people. */
            detail: string;
            code: components["schemas"]["ErrorCode"];
            /** @description As in X-Request-Id and the log. */
            request_id: string;
            /** @description The invalid fields and what is wrong with each. */
            errors?: components["schemas"]["FieldError"][];
            /** @description `configuration_invalid`: what is wrong with the configuration file. */
            problems?: string[];
            /** @description `restart_required`: paths of the configuration file that were changed. */
            changed?: string[];
            /** @description `restart_required`: the changed paths that need a restart. */
            restart_required?: string[];
            /** @description As in Retry-After. */
            retry_after_seconds?: number;
        };
        /**
         * @description For programs.
         *
         *     - `invalid_request`: The request is malformed or breaks a documented limit; `errors` names the fields.
         *     - `invalid_json`: The body is not valid JSON.
         *     - `unauthenticated`: Credentials are missing, wrong or expired.
         *     - `access_denied`: The caller is known and may not do this on this bank.
         *     - `host_not_allowed`: The server is not asked under this host name in dev mode (SERVICES_ALLOWED_HOSTS).
         *     - `not_found`: No such route, memory, bank or source.
         *     - `method_not_allowed`: The path exists with other methods; `Allow` lists them.
         *     - `idempotency_key_reused`: The Idempotency-Key was used before with another body.
         *     - `idempotency_key_in_flight`: A request with this Idempotency-Key is still being worked on.
         *     - `conflict`: Other changes of the same thing came between; read it and try again.
         *     - `configuration_invalid`: The configuration file has problems and was not taken over; `problems` names each.
         *     - `restart_required`: The configuration file was changed in what only a start reads, and was not taken over; `restart_required` names it.
         *     - `precondition_failed`: The `If-Match` of the request names another state than the one in force.
         *     - `body_too_large`: The body is longer, deeper or has more elements or lines than the server takes; `detail` names the bound.
         *     - `answer_too_large`: The answer would be larger than the server gives (`bounds.answer_bytes`); ask for less.
         *     - `unsupported_media_type`: The route does not take this Content-Type.
         *     - `rate_limited`: A per-minute limit is used up; `retry_after_seconds` says when to come back.
         *     - `quota_exceeded`: A daily quota is used up; `retry_after_seconds` counts to midnight UTC.
         *     - `overloaded`: Too many requests wait for a model; `retry_after_seconds` says when to come back.
         *     - `too_many_streams`: The caller has as many exports and event streams open as the server gives one caller (`bounds.streams_per_caller`).
         *     - `misconfigured`: The server lacks a setting that the selected auth mode needs; `detail` names it.
         *     - `internal_error`: An unexpected fault. The log has its cause under the same request id.
         *     - `not_supported`: The configured backend cannot do this.
         *     - `model_output_invalid`: A model answered unusably.
         *     - `deadline_exceeded`: The answer was not there within `timeout_ms`, or the most that the server allows.
         *     - `server_busy`: The server has as much work as it has room for; `retry_after_seconds` says when to come back.
         *     - `dependency_unavailable`: The vector store or a model is down or did not answer in time.
         *     - `identity_provider_unavailable`: No signing key of the identity provider can be had.
         *     - `shutting_down`: The server is stopping; send the request to another instance.
         * @enum {string}
         */
        ErrorCode: "invalid_request" | "invalid_json" | "unauthenticated" | "access_denied" | "host_not_allowed" | "not_found" | "method_not_allowed" | "idempotency_key_reused" | "idempotency_key_in_flight" | "conflict" | "configuration_invalid" | "restart_required" | "precondition_failed" | "body_too_large" | "answer_too_large" | "unsupported_media_type" | "rate_limited" | "quota_exceeded" | "overloaded" | "too_many_streams" | "misconfigured" | "internal_error" | "not_supported" | "model_output_invalid" | "deadline_exceeded" | "server_busy" | "dependency_unavailable" | "identity_provider_unavailable" | "shutting_down";
        ErrorEvent: {
            /** @enum {string} */
            event: "error";
            data: components["schemas"]["Error"];
        };
        EvidenceEvent: {
            /** @enum {string} */
            event: "evidence";
            data: {
                sources: components["schemas"]["Hit"][];
            };
        };
        /** @description The way of one memory through a recall. */
        ExplainRecallAnswer: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /** @description Whether it is among the hits. */
            found: boolean;
            /**
             * @description The first reason why the memory is not among the hits. not_in_bank: the bank has no such memory, or it has expired. no_strategy_found_it: it matches the query neither by words nor by meaning. not_a_candidate: found, but ranked too low to be a candidate.
             * @enum {string}
             */
            verdict: "returned" | "not_in_bank" | "filtered" | "no_strategy_found_it" | "not_a_candidate" | "below_min_score" | "cut_by_max_results" | "cut_by_max_tokens";
            /** @description From 1 in the final order, hit or not. Null when it was no candidate. */
            rank: number | null;
            /** @description The final score, within 0–1. Null when it was no candidate. */
            score: number | null;
            stages: components["schemas"]["ExplainedStages"];
            /** @description The stages that were skipped because a model was down or late. Absent when none was. */
            degraded?: components["schemas"]["Degradation"][];
        };
        /** @description A search, and the memory to explain. */
        ExplainRecallRequest: {
            /** @example What does Alice drink? */
            query: string;
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /**
             * Format: uuid
             * @description Id of the memory that is looked for.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            expect: string;
            /** @description Hits at most; clamped to 1–1000. Default 10. */
            max_results?: number;
            /** @description Tokens of all hits together; the first hit that does not fit ends the list. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description Inclusive. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Exclusive. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained by then; inclusive. RFC 3339 with an offset.
             */
            as_of?: string;
            /** @description Only memories that are trusted at least so much. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant that relative times in the query, such as "yesterday" or "two weeks ago", refer to; for queries about a past conversation. RFC 3339 with an offset. Default now. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Hits of a lower score are left out. */
            min_score?: number;
        };
        /** @description The bounds that cut the ranking to the hits. */
        ExplainedBudget: {
            /** @description Every bound that keeps the memory out by itself. */
            cut_by: ("min_score" | "max_results" | "max_tokens")[];
            min_score: number;
            /** @description After clamping. */
            max_results: number;
            /** @description The request's own or the bank's ceiling, whichever is less. Null: no bound. */
            max_tokens: number | null;
            /** @description Tokens of the memory and all before it. */
            tokens_needed: number;
        };
        /** @description The filters of the request. */
        ExplainedFilter: {
            passed: boolean;
            /** @description Every filter that the memory does not satisfy. */
            failed: ("tags" | "metadata" | "occurred_after" | "occurred_before" | "as_of" | "min_trust")[];
        };
        /** @description The strategies together; absent when none returned the memory for the whole query. */
        ExplainedFusion: {
            /** @description From 1, by the strategies alone. */
            rank: number;
            /** @description The sum over the strategies, weights included. */
            score: number;
        };
        /** @description Search by words. */
        ExplainedLexical: {
            /**
             * @description candidate: returned as a candidate. too_low: found, but ranked below the candidates. no_match: neither the memory nor a neighbour has a word of the query. filtered: kept out by a filter. off: the strategy is switched off.
             * @enum {string}
             */
            state: "candidate" | "too_low" | "no_match" | "filtered" | "off";
            /** @description From 1 among all memories that the strategy finds for the whole query, not only its candidates. Null when it does not find the memory, or not within `beyond`. */
            rank: number | null;
            /** @description Within 0–1. Null when the strategy has no score for the memory, or its rank is too low for the score to be known. */
            score: number | null;
            /** @description How many candidates the strategy returned. */
            candidates: number;
            /** @description Present when the memory is not among this many of the best. */
            beyond?: number;
            /** @description The score without the words of neighbours in the same document. */
            own_score: number | null;
            terms: {
                /** @description The query as it is searched for: stems of its words. */
                asked: string[];
                /** @description Those of them that the memory itself holds. */
                in_memory: string[];
                /** @description Whether neighbours in the same document add to the score. Null when the score is not known. */
                from_neighbours: boolean | null;
            };
        };
        ExplainedPart: {
            query: string;
            /** @description From 1 among the candidates of this part. Null when it is none of them. */
            rank: number | null;
        };
        /** @description The reranker. */
        ExplainedRerank: {
            /**
             * @description not_judged: ranked below the candidates that were sent to the reranker. degraded: it failed or was late. off: none is configured.
             * @enum {string}
             */
            state: "judged" | "not_judged" | "degraded" | "off";
            /** @description From 1, by the scores of the reranker alone. */
            rank: number | null;
            /** @description On the scale of the reranker. */
            score: number | null;
        };
        /** @description The scorers, which rank candidates in addition to the strategies. */
        ExplainedScorers: {
            /** @description From 1, by strategies and scorers. */
            rank: number;
            /** @description Within 0–1. */
            score: number;
            /** @description What each scorer added, weight included (`retrieval.scorers` in the configuration); those that added nothing are left out. */
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
            /** @description From 1 among all memories that the strategy finds for the whole query, not only its candidates. Null when it does not find the memory, or not within `beyond`. */
            rank: number | null;
            /** @description Within 0–1. Null when the strategy has no score for the memory, or its rank is too low for the score to be known. */
            score: number | null;
            /** @description How many candidates the strategy returned. */
            candidates: number;
            /** @description Present when the memory is not among this many of the best. */
            beyond?: number;
        };
        /** @description In order; those that the memory did not reach are absent, all of them when it is not in the bank. */
        ExplainedStages: {
            filter?: components["schemas"]["ExplainedFilter"];
            lexical?: components["schemas"]["ExplainedLexical"];
            semantic?: components["schemas"]["ExplainedSemantic"];
            times?: components["schemas"]["ExplainedTimes"];
            /** @description The parts that the query was split into, whose rankings are interleaved; absent when it was not split. */
            parts?: components["schemas"]["ExplainedPart"][];
            fusion?: components["schemas"]["ExplainedFusion"];
            scorers?: components["schemas"]["ExplainedScorers"];
            rerank?: components["schemas"]["ExplainedRerank"];
            budget?: components["schemas"]["ExplainedBudget"];
        };
        /** @description The times that the query names; absent when it names none. */
        ExplainedTimes: {
            spans: components["schemas"]["TimeSpan"][];
            /** @description Whether the memory occurred in a period that was also searched separately, so that it can be a candidate without a rank in a strategy. */
            searched: boolean;
        };
        /** @description The first line of an export. */
        ExportHeader: {
            /** @enum {string} */
            format: "memory-gateway-export";
            /** @enum {number} */
            version: 1;
            /** @description Information only. */
            bank_id?: string;
            /** Format: date-time */
            exported_at?: string;
            memory_count?: number;
            /** @description The configuration of a bank as its admins set it. */
            config?: components["schemas"]["BankConfig"];
        };
        ExportLine: components["schemas"]["ExportHeader"] | components["schemas"]["Memory"];
        /** @description An invalid field and what is wrong with it. */
        FieldError: {
            /** @description As the caller wrote it, for instance `items[3].tags`. */
            field: string;
            message: string;
        };
        /** @description What was deleted. */
        ForgetAnswer: {
            deleted_count: number;
            /** @description Up to 1000. */
            memory_ids: string[];
            /** @description With dry_run, and for a caller who may also read the bank: the first ten of the memories. */
            sample?: components["schemas"]["Memory"][];
        };
        /** @description What is to be forgotten: exactly one of memory_ids, tags and scope. */
        ForgetRequest: {
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            memory_ids: string[];
            /** @description Not beside memory_ids. */
            tags?: string & number;
            /** @description Not beside memory_ids. */
            tags_match?: string & number;
            /** @description Not beside memory_ids. */
            scope?: string & number;
            /** @description Counts and deletes nothing. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not beside tags. */
            memory_ids?: string & number;
            /** @description An untagged memory never matches a tag filter. */
            tags: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            /** @description Not beside tags. */
            scope?: string & number;
            /** @description Counts and deletes nothing. Default false. */
            dry_run?: boolean;
        } | {
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not beside scope. */
            memory_ids?: string & number;
            /** @description Not beside scope. */
            tags?: string & number;
            /** @description Not beside scope. */
            tags_match?: string & number;
            /**
             * @description The whole bank; asks for `admin`.
             * @enum {string}
             */
            scope: "all";
            /** @description Counts and deletes nothing. Default false. */
            dry_run?: boolean;
        };
        GrantRule: {
            /** @description A bank, or a prefix before one trailing `*`. */
            bank_id: string;
            /** @description A principal, or a prefix before one trailing `*`. */
            principal: string;
            permissions: ("read" | "write" | "forget" | "admin" | "*")[];
            /** @description Where it stands in the configuration. */
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
                    /** @description Milliseconds that its answer took. */
                    latency_ms: number;
                };
                /** @description The embedding provider, by its latest calls; this request makes none. It does not affect readiness. */
                embedding: components["schemas"]["ModelHealth"];
                /** @description The language model, by its latest calls; this request makes none. It does not affect readiness. */
                language_model: components["schemas"]["ModelHealth"];
                /** @description The reranker, when there is one, by its latest calls; this request makes none. It does not affect readiness. */
                reranker?: components["schemas"]["ModelHealth"];
                auth?: components["schemas"]["AuthHealth"];
            };
        };
        HistorySample: {
            /**
             * Format: date-time
             * @description When the step began.
             */
            at: string;
            /** @description Requests of callers and webhook sources that ended in the step. */
            requests: number;
            /** @description Those with a status of 400 to 499, and those whose client left. */
            client_errors: number;
            /** @description Those with a status from 500 up. */
            server_errors: number;
            /** @description Half of the requests took no longer, within 12 percent; null without requests. */
            p50_ms: number | null;
            /** @description The same for 90 of 100. */
            p90_ms: number | null;
            /** @description The same for 99 of 100. */
            p99_ms: number | null;
            /** @description The longest request. */
            max_ms: number | null;
            /** @description Memory of the process. */
            rss_bytes: number;
            /** @description Of it, what the heap of JavaScript uses. */
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
         *       "trust": "trusted",
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
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description The whole memory. */
            text: string;
            tags: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When what the memory tells happened.
             */
            occurred_at: string | null;
            /** Format: date-time */
            retained_at: string;
            /**
             * Format: date-time
             * @description When the memory ceases to exist.
             */
            expires_at: string | null;
            document_id: string | null;
            source: string | null;
            /** @description How far the memory may be believed, decided when it was written: by who wrote it, and `suspect` when it looks like an instruction to a model or hides text. */
            trust: components["schemas"]["TrustLevel"];
            /** @description Within 0–1; comparable within one answer. */
            score: number;
            /** @description What matched, best first, when the memory was split. */
            passages?: components["schemas"]["Passage"][];
            scores?: components["schemas"]["HitScores"];
        };
        /** @description Rank and score per strategy and what the scorers added (`explain`). */
        HitScores: {
            lexical?: components["schemas"]["StrategyScore"];
            semantic?: components["schemas"]["StrategyScore"];
            /** @description What each scorer added, weight included (`retrieval.scorers` in the configuration). */
            signals?: {
                [key: string]: number;
            };
            /** @description What each strategy added to `sum`, weight included. That of `semantic` is counted from what a usual candidate has, so it may be negative. */
            contributions?: {
                lexical?: number;
                semantic?: number;
            };
            /** @description `contributions` and `signals` together. The score is 1 / (1 + e^(6.4 - 4 · sum)), unless diversity, a part of the query or a reranker lowered it. */
            sum?: number;
            rerank?: {
                rank: number;
                /** @description On the scale of the reranker. */
                score: number;
            };
        };
        /** @description How many memories came in. */
        ImportBankAnswer: {
            imported: number;
            skipped: number;
            overwritten: number;
        };
        ImportLine: components["schemas"]["ExportHeader"] | components["schemas"]["Memory"] | components["schemas"]["ImportedMemory"];
        /** @description A memory to import. Members may also be null, which means absent. */
        ImportedMemory: {
            /**
             * @description The memory's text: 1–50,000 characters after trimming, unless the bank's barriers say otherwise.
             * @example Alice prefers tea over coffee.
             */
            text: string;
            /** Format: uuid7 */
            memory_id?: string;
            /** @description Information only. */
            bank_id?: string;
            tags?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When what the memory tells happened. RFC 3339 with an offset.
             */
            occurred_at?: string;
            /**
             * Format: date-time
             * @description When the memory was first retained. Default now. RFC 3339 with an offset.
             */
            retained_at?: string;
            /**
             * Format: date-time
             * @description When the memory ceases to exist; in the future. RFC 3339 with an offset.
             */
            expires_at?: string;
            /** @description The document or conversation that the memory is a part of. */
            document_id?: string;
            /** @description Where the memory comes from. */
            source?: string;
            /** @description Lowers the trust that the importer's memories have; it cannot raise it. */
            trust?: components["schemas"]["TrustLevel"];
        };
        /** @description The process is up. */
        LiveAnswer: {
            /** @enum {string} */
            status: "ok";
        };
        /** @description A page of memories, newest first. */
        MemoriesPage: {
            memories: components["schemas"]["Memory"][];
            /** @description Null on the last page. */
            next_cursor: string | null;
            /** @description With ?total=true. */
            total?: {
                /** @description Memories that pass the filters, counted up to 100000. */
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
         *       "trust": "trusted"
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
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description The whole memory. */
            text: string;
            tags: string[];
            metadata: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When what the memory tells happened.
             */
            occurred_at: string | null;
            /** Format: date-time */
            retained_at: string;
            /**
             * Format: date-time
             * @description When the memory ceases to exist.
             */
            expires_at: string | null;
            document_id: string | null;
            source: string | null;
            /** @description How far the memory may be believed, decided when it was written: by who wrote it, and `suspect` when it looks like an instruction to a model or hides text. */
            trust: components["schemas"]["TrustLevel"];
        };
        /** @description A document is in the order of `occurred_at`, else `retained_at`. A memory without `document_id` has no neighbours. */
        MemoryNeighbours: {
            memory: components["schemas"]["Memory"];
            /** @description In the order of the document: the last is next to the memory. */
            before: components["schemas"]["Memory"][];
            /** @description In the order of the document: the first is next to the memory. */
            after: components["schemas"]["Memory"][];
            /** @description Whether the document has others before these. */
            more_before: boolean;
            /** @description Whether the document has others after these. */
            more_after: boolean;
        };
        /** @description Flat map to string, number, boolean or null. */
        Metadata: {
            [key: string]: string | number | boolean | null;
        };
        /**
         * @description `ok`: the last call was answered. `degraded`: the last call failed, or calls resume after a series of failures. `failing`: so many calls failed in a row that the model counts as down. `unknown`: no call was made yet.
         * @enum {string}
         */
        ModelCondition: "ok" | "degraded" | "failing" | "unknown";
        ModelHealth: {
            status: components["schemas"]["ModelCondition"];
        };
        /** @description A model that the server works with. */
        ModelInUse: {
            /** @description The registered name. `custom`: a class of the operator's own. */
            provider: string;
            /** @description The model, where the provider names one. */
            model: string | null;
            status: components["schemas"]["ModelCondition"];
        };
        /** @description The memory that this one nearly repeats, when the bank looks for such (`signal_quality.dedup`). */
        NearDuplicate: {
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /** @description Within 0–1. */
            similarity: number;
        };
        /** @description A passage of a memory that matched. */
        Passage: {
            text: string;
            /** @description UTF-16 offset into the text. */
            start: number;
            /** @description UTF-16 offset behind the passage. */
            end: number;
            score: number;
        };
        /** @enum {string} */
        Permission: "read" | "write" | "forget" | "admin";
        PermissionGrant: {
            permission: components["schemas"]["Permission"];
            /** @description The grant or policy that gives it. */
            granted_by: string;
        };
        /** @description The hits, best first. */
        RecallAnswer: {
            hits: components["schemas"]["Hit"][];
            /** @description Memories that were candidates after filters, whatever max_results is. */
            total_available: number;
            /** @description True when max_tokens ended the list. */
            truncated: boolean;
            usage: components["schemas"]["RecallUsage"];
            /** @description The stages that were skipped because a model was down or late. Absent when none was. */
            degraded?: components["schemas"]["Degradation"][];
            trace?: components["schemas"]["Trace"];
        };
        /** @description A search; in exactly one of `bank_id` and `banks`. */
        RecallRequest: {
            /** @example What does Alice drink? */
            query: string;
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not beside bank_id. */
            banks?: string & number;
            /** @description Hits at most; clamped to 1–1000. Default 10. */
            max_results?: number;
            /** @description Tokens of all hits together; the first hit that does not fit ends the list. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description Inclusive. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Exclusive. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained by then; inclusive. RFC 3339 with an offset.
             */
            as_of?: string;
            /** @description Only memories that are trusted at least so much. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant that relative times in the query, such as "yesterday" or "two weeks ago", refer to; for queries about a past conversation. RFC 3339 with an offset. Default now. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Hits of a lower score are left out. */
            min_score?: number;
            /** @description Searches by these alone: `["lexical"]` goes by words and asks no embedding model. Default: those that are switched on (`retrieval.weights`). */
            strategies?: ("lexical" | "semantic")[];
            /** @description Searches other wordings of the query as well, which the language model thinks of; 501 unless the server has it switched on (`retrieval.rewrite`). Default false. */
            rewrite?: boolean;
            /** @description Has the language model order the best candidates; 501 unless the server has it switched on (`retrieval.model_rerank`). Default false. */
            model_rerank?: boolean;
            /** @description Adds `scores` to each hit, and `trace`. Default false. */
            explain?: boolean;
        } | {
            /** @example What does Alice drink? */
            query: string;
            /** @description Not beside banks. */
            bank_id?: string & number;
            /** @description Several banks in one ranking; instead of bank_id. */
            banks: string[];
            /** @description Hits at most; clamped to 1–1000. Default 10. */
            max_results?: number;
            /** @description Tokens of all hits together; the first hit that does not fit ends the list. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description Inclusive. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Exclusive. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained by then; inclusive. RFC 3339 with an offset.
             */
            as_of?: string;
            /** @description Only memories that are trusted at least so much. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant that relative times in the query, such as "yesterday" or "two weeks ago", refer to; for queries about a past conversation. RFC 3339 with an offset. Default now. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Hits of a lower score are left out. */
            min_score?: number;
            /** @description Searches by these alone: `["lexical"]` goes by words and asks no embedding model. Default: those that are switched on (`retrieval.weights`). */
            strategies?: ("lexical" | "semantic")[];
            /** @description Searches other wordings of the query as well, which the language model thinks of; 501 unless the server has it switched on (`retrieval.rewrite`). Default false. */
            rewrite?: boolean;
            /** @description Has the language model order the best candidates; 501 unless the server has it switched on (`retrieval.model_rerank`). Default false. */
            model_rerank?: boolean;
            /** @description Adds `scores` to each hit, and `trace`. Default false. */
            explain?: boolean;
        };
        RecallUsage: {
            /** @description Tokens (o200k_base) of the hits given. */
            tokens: number;
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
         *           "trust": "trusted",
         *           "score": 0.82
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
            /** @description `[1]` cites the first of the sources. */
            answer: string;
            /** @description True when the memories do not answer the question. When there was no evidence at all, no model was called. */
            abstained: boolean;
            /** @description The answer by `response_schema`; absent when it abstained. */
            structured?: {
                [key: string]: unknown;
            };
            /** @description True when no mark of the answer names a source; absent otherwise. */
            unverified?: boolean;
            /** @description True when max_tokens cut the answer; absent otherwise. */
            truncated?: boolean;
            /** @description What the answer went without. `model`: the language model could not be had, and the answer is sentences of the memories. Absent when nothing was missing. */
            degraded?: components["schemas"]["ReflectDegradation"][];
            /** @description The evidence, in the order of the marks; empty with include_sources false, and when it abstained. */
            sources: components["schemas"]["Hit"][];
            usage: components["schemas"]["ReflectUsage"];
        };
        /** @description The whole answer. */
        ReflectConclusion: {
            /** @description `[1]` cites the first of the sources. */
            answer: string;
            /** @description True when the memories do not answer the question. When there was no evidence at all, no model was called. */
            abstained: boolean;
            /** @description The answer by `response_schema`; absent when it abstained. */
            structured?: {
                [key: string]: unknown;
            };
            /** @description True when no mark of the answer names a source; absent otherwise. */
            unverified?: boolean;
            /** @description True when max_tokens cut the answer; absent otherwise. */
            truncated?: boolean;
            /** @description What the answer went without. `model`: the language model could not be had, and the answer is sentences of the memories. Absent when nothing was missing. */
            degraded?: components["schemas"]["ReflectDegradation"][];
        };
        /** @enum {string} */
        ReflectDegradation: "rewrite" | "semantic" | "rerank" | "model";
        /** @description An event of a reflect: its name, and its data, which is JSON. */
        ReflectEvent: components["schemas"]["EvidenceEvent"] | components["schemas"]["DeltaEvent"] | components["schemas"]["UsageEvent"] | components["schemas"]["DoneEvent"] | components["schemas"]["ErrorEvent"];
        /** @description A question; to exactly one of `bank_id` and `banks`. */
        ReflectRequest: {
            /** @example What does Alice drink? */
            query: string;
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description Not beside bank_id. */
            banks?: string & number;
            /** @description Tokens of the answer at most. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description Inclusive. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Exclusive. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained by then; inclusive. RFC 3339 with an offset.
             */
            as_of?: string;
            /** @description Only memories that are trusted at least so much. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant that relative times in the query, such as "yesterday" or "two weeks ago", refer to; for queries about a past conversation. RFC 3339 with an offset. Default now. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Default true. */
            include_sources?: boolean;
            /**
             * @description Instructions for tone, length, language and form of the answer. They add nothing to the evidence.
             * @example Answer in one sentence, informally.
             */
            instructions?: string;
            /** @description JSON Schema of an object that the answer is also given as, in `structured`: at most 16 KiB, 8 levels and 256 properties, without references and patterns. 501 when the configured model cannot. */
            response_schema?: Record<string, unknown>;
            /** @description Milliseconds that the answer may take; clamped to what the server allows (`reflect.timeout_ms`). */
            timeout_ms?: number;
        } | {
            /** @example What does Alice drink? */
            query: string;
            /** @description Not beside banks. */
            bank_id?: string & number;
            /** @description Several banks in one ranking; instead of bank_id. */
            banks: string[];
            /** @description Tokens of the answer at most. */
            max_tokens?: number;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            tags_match?: components["schemas"]["TagsMatch"];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description Inclusive. RFC 3339 with an offset.
             */
            occurred_after?: string;
            /**
             * Format: date-time
             * @description Exclusive. RFC 3339 with an offset.
             */
            occurred_before?: string;
            /**
             * Format: date-time
             * @description Only memories retained by then; inclusive. RFC 3339 with an offset.
             */
            as_of?: string;
            /** @description Only memories that are trusted at least so much. Default: all. */
            min_trust?: components["schemas"]["TrustLevel"];
            /**
             * Format: date-time
             * @description The instant that relative times in the query, such as "yesterday" or "two weeks ago", refer to; for queries about a past conversation. RFC 3339 with an offset. Default now. It affects nothing else: an expired memory stays expired.
             */
            reference_time?: string;
            /** @description Default true. */
            include_sources?: boolean;
            /**
             * @description Instructions for tone, length, language and form of the answer. They add nothing to the evidence.
             * @example Answer in one sentence, informally.
             */
            instructions?: string;
            /** @description JSON Schema of an object that the answer is also given as, in `structured`: at most 16 KiB, 8 levels and 256 properties, without references and patterns. 501 when the configured model cannot. */
            response_schema?: Record<string, unknown>;
            /** @description Milliseconds that the answer may take; clamped to what the server allows (`reflect.timeout_ms`). */
            timeout_ms?: number;
        };
        /** @description What the answer cost. */
        ReflectUsage: {
            /** @description input_tokens and output_tokens together. */
            tokens: number;
            /** @description Of the prompt, as the language model counts them; 0 when none was asked. */
            input_tokens: number;
            /** @description Of what it answered. */
            output_tokens: number;
            /** @description By the `prices` of the configuration; absent when the model has none there. */
            cost?: number;
        };
        /** @description What was changed. */
        ReloadAnswer: {
            /** @description Paths of the configuration file that were changed and are in force. */
            changed: string[];
        };
        /** @description Requests, their durations and memory, in steps. */
        RequestHistory: {
            interval_seconds: number;
            /** @description Oldest first; the last hour. The last step is still open. */
            samples: components["schemas"]["HistorySample"][];
        };
        /**
         * @description What became of a memory.
         * @example {
         *       "stored": true,
         *       "memory_id": "01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f",
         *       "chunk_count": 1,
         *       "deduplicated": false,
         *       "bank_id": "user-alice"
         *     }
         */
        RetainAnswer: {
            /** @description False for an exact repeat, and for a near-duplicate that the bank does not take (`signal_quality.dedup`). */
            stored: boolean;
            /**
             * Format: uuid
             * @description UUIDv7.
             * @example 01936f0e-7b3c-7a10-8d2f-4b1f2c3d4e5f
             */
            memory_id: string;
            /** @description Passages that the text was split into for search. */
            chunk_count: number;
            /** @description True when the bank already had the memory; `memory_id` is its id. */
            deduplicated: boolean;
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /** @description True when the content replaced a near-duplicate, under its id. */
            updated?: boolean;
            near_duplicate?: components["schemas"]["NearDuplicate"];
            /** @description Of the memory at `memory_id`, when it is less than trusted: `untrusted` by who wrote it, `suspect` when it looks like an instruction to a model or hides text. */
            trust?: components["schemas"]["TrustLevel"];
            /** @description Metadata keys that the bank's barriers removed. */
            redactions?: string[];
        };
        /** @description What became of each memory. */
        RetainBatchAnswer: {
            /** @description In the order of the items. */
            results: components["schemas"]["RetainAnswer"][];
        };
        /** @description Memories to store, all or none. */
        RetainBatchRequest: {
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            items: components["schemas"]["RetainItem"][];
        };
        /** @description A memory to store, of a batch. */
        RetainItem: {
            /**
             * @description The memory's text: 1–50,000 characters after trimming, unless the bank's barriers say otherwise.
             * @example Alice prefers tea over coffee.
             */
            content: string;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When what the memory tells happened. RFC 3339 with an offset.
             */
            occurred_at?: string;
            /** @description The document or conversation that the memory is a part of. */
            document_id?: string;
            /** @description Where the memory comes from. */
            source?: string;
            /**
             * Format: date-time
             * @description When the memory ceases to exist; in the future. RFC 3339 with an offset.
             */
            expires_at?: string;
        };
        /** @description A memory to store. */
        RetainRequest: {
            /**
             * @description Name of a bank.
             * @example user-alice
             */
            bank_id: string;
            /**
             * @description The memory's text: 1–50,000 characters after trimming, unless the bank's barriers say otherwise.
             * @example Alice prefers tea over coffee.
             */
            content: string;
            /** @description An untagged memory never matches a tag filter. */
            tags?: string[];
            metadata?: components["schemas"]["Metadata"];
            /**
             * Format: date-time
             * @description When what the memory tells happened. RFC 3339 with an offset.
             */
            occurred_at?: string;
            /** @description The document or conversation that the memory is a part of. */
            document_id?: string;
            /** @description Where the memory comes from. */
            source?: string;
            /**
             * Format: date-time
             * @description When the memory ceases to exist; in the future. RFC 3339 with an offset.
             */
            expires_at?: string;
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
        /** @description How a strategy ranks a hit. */
        StrategyScore: {
            /** @description From 1, among the candidates of the strategy; absent when it was none of them. */
            rank?: number;
            /** @description Within 0–1. */
            score: number;
        };
        TagCount: {
            tag: string;
            memory_count: number;
        };
        /**
         * @description Whether one tag suffices. Default any.
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
            /** @description When it began, counted from the first stage. */
            start_ms: number;
            duration_ms: number;
        };
        TraceStrategy: {
            name: string;
            weight: number;
            /** @description Candidates that reached the fusion. */
            candidates: number;
        };
        /** @enum {string} */
        TrustLevel: "suspect" | "untrusted" | "trusted";
        UsageEvent: {
            /** @enum {string} */
            event: "usage";
            data: components["schemas"]["ReflectUsage"];
        };
        /** @description The caller, as the service sees it. */
        WhoamiAnswer: {
            principal: string | null;
            actor: components["schemas"]["Actor"] | null;
            tenant_id: string | null;
            on_behalf_of: string | null;
            /** @description What the caller may do on the bank of ?bank_id=. */
            permissions?: components["schemas"]["GrantedPermission"][];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
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
                /** @description 1–255 visible characters. A request with the same key and body within 24 hours gets the same answer without being executed again. */
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
            /** @description What became of a memory. */
            200: {
                headers: {
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
                /** @description 1–255 visible characters. A request with the same key and body within 24 hours gets the same answer without being executed again. */
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
            /** @description What became of each memory. */
            200: {
                headers: {
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
        /** @description A search; in exactly one of `bank_id` and `banks`. */
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
                     *           "trust": "trusted",
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
        /** @description A search, and the memory to explain. */
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
            /** @description The way of one memory through a recall. */
            200: {
                headers: {
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
                /** @description 1–255 visible characters. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description What is to be forgotten: exactly one of memory_ids, tags and scope. */
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
            /** @description What was deleted. */
            200: {
                headers: {
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
                /** @description Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
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
                 * @description Name of a bank.
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
                 * @description Name of a bank.
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
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Figures of a bank. */
            200: {
                headers: {
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
                /** @description Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
                /** @description An untagged memory never matches a tag filter. */
                tags?: string[];
                /** @description Whether one tag suffices. Default any. */
                tags_match?: components["schemas"]["TagsMatch"];
                /**
                 * @description A JSON object of strings, numbers, booleans and nulls, all of which the memory has.
                 * @example {"topic":"tea"}
                 */
                metadata?: string;
                /** @description Inclusive. RFC 3339 with an offset. */
                occurred_after?: string;
                /** @description Exclusive. RFC 3339 with an offset. */
                occurred_before?: string;
                /** @description Inclusive. RFC 3339 with an offset. */
                retained_after?: string;
                /** @description Exclusive. RFC 3339 with an offset. */
                retained_before?: string;
                document_id?: string;
                /** @description Only memories that are trusted at least so much. Default: all. */
                min_trust?: components["schemas"]["TrustLevel"];
                /** @description Only memories of exactly this level. */
                trust?: components["schemas"]["TrustLevel"];
                /** @description Which comes first. With the other order a cursor goes the other way from its place. Default newest. */
                order?: "newest" | "oldest";
                /** @description Memories to pass over, from the start or the cursor. Default 0. */
                offset?: number;
                /** @description Adds `total`. Default false. */
                total?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of memories, newest first. */
            200: {
                headers: {
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
                 * @description Name of a bank.
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
                     *       "trust": "trusted"
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
                /** @description Clamped to 1–366. Default 30. */
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
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memories that the bank has now, by the day on which they were retained. */
            200: {
                headers: {
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
                /** @description Memories before it. Clamped to 0–50. Default 5. */
                before?: number;
                /** @description Memories after it. Clamped to 0–50. Default 5. */
                after?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
                memory_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A document is in the order of `occurred_at`, else `retained_at`. A memory without `document_id` has no neighbours. */
            200: {
                headers: {
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
                     *         "trust": "trusted"
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
    getBankConfig: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a bank sets, what is in force, and where each value comes from. */
            200: {
                headers: {
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
                     *       "etag": "\"r17\"",
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
                 * @description Entity tags, or `*` for any configuration that is set: nothing is changed unless one of them is in force.
                 * @example "r17"
                 */
                "if-match"?: string;
            };
            path: {
                /**
                 * @description Name of a bank.
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
            /** @description What a bank sets, what is in force, and where each value comes from. */
            200: {
                headers: {
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
                     *       "etag": "\"r17\"",
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
                 * @description Entity tags, or `*` for any configuration that is set: nothing is changed unless one of them is in force.
                 * @example "r17"
                 */
                "if-match"?: string;
            };
            path: {
                /**
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a bank sets, what is in force, and where each value comes from. */
            200: {
                headers: {
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
                     *       "etag": "\"r17\"",
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
                 * @description Entity tags, or `*` for any configuration that is set: nothing is changed unless one of them is in force.
                 * @example "r17"
                 */
                "if-match"?: string;
            };
            path: {
                /**
                 * @description Name of a bank.
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
            /** @description What a bank sets, what is in force, and where each value comes from. */
            200: {
                headers: {
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
                     *       "etag": "\"r17\"",
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
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The earlier configurations of a bank. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "history": []
                     *     }
                     */
                    "application/json": components["schemas"]["BankConfigHistory"];
                };
            };
        };
    };
    exportBank: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
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
                /** @description Default skip. */
                on_conflict?: "skip" | "overwrite";
                /** @description apply: the configuration that the export carries, if any, takes the place of the bank's. Default ignore. */
                config?: "ignore" | "apply";
            };
            header?: {
                /** @description 1–255 visible characters. A request with the same key and body within 24 hours gets the same answer without being executed again. */
                "idempotency-key"?: string;
            };
            path: {
                /**
                 * @description Name of a bank.
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
            /** @description How many memories came in. */
            200: {
                headers: {
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
                 * @description Name of a bank.
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
                /** @description Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a principal may do on each bank, and by which rule. */
            200: {
                headers: {
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
        /** @description A question; to exactly one of `bank_id` and `banks`. */
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
                tenant_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
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
                /** @description The tenant of the bank; absent: the bank of callers without a tenant. */
                tenant_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a bank sets, what is in force, and where each value comes from. */
            200: {
                headers: {
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
                     *       "etag": "\"r17\"",
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
                /** @description The tenant of the bank; absent: the bank of callers without a tenant. */
                tenant_id?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Name of a bank.
                 * @example user-alice
                 */
                bank_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a bank sets, what is in force, and where each value comes from. */
            200: {
                headers: {
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
                     *       "etag": "\"r17\"",
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
        requestBody?: never;
        responses: {
            /** @description What was changed. */
            200: {
                headers: {
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
                /** @description Only steps that began then or later. RFC 3339 with an offset. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Requests, their durations and memory, in steps. */
            200: {
                headers: {
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
            /** @description What this process runs with, and the state of it. It holds no secret and no address. */
            200: {
                headers: {
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
                 * @description Absent: an anonymous caller, whom only dev mode knows.
                 * @example user:alice
                 */
                principal?: string;
                /** @description Absent: callers without a tenant. */
                tenant_id?: string;
                /**
                 * @description The principal that it acts for.
                 * @example user:alice
                 */
                on_behalf_of?: string;
                /** @description Clamped to 1–200. Default 50. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a principal may do on each bank, and by which rule. */
            200: {
                headers: {
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
        /** @description The bank need not exist. */
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
            /** @description What became of a memory. */
            200: {
                headers: {
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
