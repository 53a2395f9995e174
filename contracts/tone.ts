/** Look of a state on pages. */
export type Tone = 'good' | 'warn' | 'bad' | 'info';
