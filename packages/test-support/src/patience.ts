/**
 * Time limits of `createPostgresStores` for tests that are about something else: a busy machine may
 * take longer than its own limits allow.
 */
export const PATIENT_POSTGRES = { connectTimeoutMs: 900_000, statementTimeoutMs: 900_000 } as const;
