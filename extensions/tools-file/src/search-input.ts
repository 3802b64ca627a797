import { z } from 'zod';

// A NUL would end the argument of the process.
const withoutNul = (text: string) => !text.includes('\0');
const glob = z.string().min(1).max(1_000).refine(withoutNul, 'holds a NUL');

/** The arguments of `search_files`. */
export const searchInput = z
  .strictObject({
    pattern: z
      .string()
      .min(1)
      .max(10_000)
      .refine(withoutNul, 'holds a NUL')
      .optional()
      .describe(
        "What to find in files: a regular expression as of Rust's regex (no look-around, no backreferences), within one line. Leave out to find files by name.",
      ),
    glob: z
      .union([glob, z.array(glob).min(1).max(50)])
      .optional()
      .describe(
        'Which files: `*.ts` for names, `src/**/*.ts` for paths from the root of the search, `!*.min.js` to leave out. One or several; not for a path that is a file.',
      ),
    path: z
      .string()
      .min(1)
      .default('.')
      .describe('Folder or file to search; relative to the working directory.'),
    file_type: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_+-]*$/i)
      .optional()
      .describe('A file type that ripgrep knows, such as `ts`, `py` or `md`.'),
    fixed_string: z.boolean().default(false).describe('Take the pattern as plain text.'),
    case: z
      .enum(['smart', 'sensitive', 'insensitive'])
      .default('smart')
      .describe('`smart`: sensitive only when the pattern has a capital letter.'),
    context: z
      .int()
      .min(0)
      .max(20)
      .default(0)
      .describe('Lines to show before and after each match.'),
    max_results: z
      .int()
      .min(1)
      .max(1_000)
      .default(100)
      .describe('Matching lines, or names of files, to show at most.'),
    hidden: z.boolean().default(false).describe('Search hidden files too; never `.git`.'),
    include_ignored: z.boolean().default(false).describe('Search what ignore files leave out too.'),
  })
  .refine(
    ({ pattern, glob, file_type }) => (pattern ?? glob ?? file_type) !== undefined,
    'give a pattern to find in files, or a glob or file_type to find files by name',
  );

export type SearchArgs = z.output<typeof searchInput>;
