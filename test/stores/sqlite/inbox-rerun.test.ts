import { openDatabase } from './driver.ts';
import { testRerunsInSqlite } from './inbox-rerun-tests.ts';

testRerunsInSqlite(openDatabase);
