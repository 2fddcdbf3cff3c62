import { openDatabase } from './driver.ts';
import { testDeadLetters, testStore } from './store-tests.ts';

testStore(openDatabase, { walks: 20 });
testDeadLetters(openDatabase);
