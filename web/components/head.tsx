/** The head of every page of both services. */
import type { ComponentChildren } from 'preact';

interface Head {
  readonly title: string;
  readonly icon: string;
  readonly styles: readonly string[];
  /** Undefined: the system's colour scheme. */
  readonly theme?: string | undefined;
  /** Address to which the page leads at once. */
  readonly onward?: string | undefined;
  /** Forms name their origin: some browsers send no Sec-Fetch-Site. @default true */
  readonly namesOrigin?: boolean | undefined;
  /** Scripts, and styles beyond those of the page. */
  readonly children?: ComponentChildren;
}

export function DocumentHead({ title, icon, styles, theme, onward, namesOrigin = true, children }: Head) {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      {namesOrigin && <meta name="referrer" content="same-origin" />}
      <meta name="color-scheme" content={theme ?? 'light dark'} />
      {/* Phones would make links of identity numbers and codes, which call somebody. */}
      <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
      {onward !== undefined && <meta http-equiv="refresh" content={`0;url=${onward}`} />}
      <title>{title}</title>
      <link rel="icon" href={icon} />
      {styles.map((style) => (
        <link key={style} rel="stylesheet" href={style} />
      ))}
      {children}
    </head>
  );
}
