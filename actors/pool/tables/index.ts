export { readSheet } from './sheet.ts';
