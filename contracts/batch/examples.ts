/** Values that the examples of several operations share. */

export const JOB_ID = '0d9a7c3e-5b1f-4a6d-8c2e-1f3b5d7a9c0e';
export const OTHER_ID = '6f2b8e14-93c7-4d5a-b0e1-7a4c2d9f8b36';
export const AT = '2026-05-26T15:42:11.123Z';
