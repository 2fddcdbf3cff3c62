import { entryCases } from './journal/entry-cases.ts';
import type { JournalCase } from './journal/journal-case.ts';
import { listCases } from './journal/list-cases.ts';

/** What every journal promises. */
export const journalConformance: readonly JournalCase[] = [...entryCases, ...listCases];
