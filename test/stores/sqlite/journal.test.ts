import { openDatabase } from './driver.ts';
import { testJournal } from './journal-tests.ts';

testJournal(openDatabase, { walks: 20 });
