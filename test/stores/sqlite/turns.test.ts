import { openDatabase } from './driver.ts';
import { testTurns } from './turns-tests.ts';

testTurns(openDatabase);
