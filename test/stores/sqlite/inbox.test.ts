import { openDatabase } from './driver.ts';
import { testLatest } from './inbox-latest-tests.ts';
import { testInbox } from './inbox-tests.ts';
import { testTransactions } from './inbox-transaction-tests.ts';

testInbox(openDatabase);
testLatest(openDatabase);
testTransactions(openDatabase);
