import { openDatabase } from './driver.ts';
import { testFullDisk } from './fault-tests.ts';

testFullDisk(openDatabase);
