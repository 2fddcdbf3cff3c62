import { entryCases } from './journal/entry-cases.ts';
import type { JournalCase } from './journal/journal-case.ts';
import { listCases } from './journal/list-cases.ts';

/** The promises of every journal. */
export const journalConformance: readonly JournalCase[] = [...entryCases, ...listCases];
