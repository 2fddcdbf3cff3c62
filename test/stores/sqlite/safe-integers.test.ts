import { safely } from './connection.ts';
import { openDatabase } from './driver.ts';
import { testInbox } from './inbox-tests.ts';
import { testDeadLetters, testStore } from './store-tests.ts';

testStore(safely(openDatabase), { walks: 1 });
testDeadLetters(safely(openDatabase));
testInbox(safely(openDatabase));
