import { openDatabase } from './driver.ts';
import { testFaults } from './fault-tests.ts';

testFaults(openDatabase);
