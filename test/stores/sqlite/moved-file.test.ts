import { openDatabase } from './driver.ts';
import { testMovedFile } from './moved-file-tests.ts';

testMovedFile(openDatabase);
