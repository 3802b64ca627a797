/**
 * The end of a query that returns at most the bound number of rows. After a plain `LIMIT ?`, SQLite
 * plans for the number and compiles the statement anew each time one is bound, which takes several
 * times as long as a short query.
 */
export const LIMIT = 'LIMIT +?';
