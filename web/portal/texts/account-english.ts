/** English texts of the pages for users; the other languages have the same shape. */
export const ACCOUNT_ENGLISH = {
  signIn: {
    title: 'Sign in',
    intro: 'You receive a link by e-mail that signs you in once.',
    email: 'E-mail address',
    button: 'Send me a link',
    sentTitle: 'Look into your mailbox',
    sentText:
      'If this address belongs to a user, a link is on its way. It works once, and for 15 minutes. At most three links are valid at a time.',
    linkText: '{name}, this link signs you in once.',
    linkButton: 'Sign in to {organization}',
    usedTitle: 'This link does not work any more',
    usedText: 'It was used already, or its time is over.',
    again: 'Ask for a new link',
  },
  navigation: {
    label: 'Pages',
    signOut: 'Sign out',
    signedIn: '{name} ({role})',
    roles: { administrator: 'administrator', sender: 'sender' },
  },
  account: {
    title: 'Your account',
    organization: 'Organization',
    role: 'Role',
    email: 'E-mail address',
  },
  notAllowed: {
    title: 'You may not do this',
    text: 'Your role in this organization does not allow it, or the page was open for too long. Open it again.',
  },
};

export type AccountTexts = typeof ACCOUNT_ENGLISH;
