import { suitesOnThreads } from './suites-on-threads.ts';

suitesOnThreads(2);
