import { openDatabase } from './driver.ts';
import { testLatest } from './inbox-latest-tests.ts';
import { testInbox } from './inbox-tests.ts';

testInbox(openDatabase);
testLatest(openDatabase);
