/** The name of an HTTP header: a token of RFC 9110. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** What may stand in a header: visible characters, blanks between them, and the upper half of Latin-1 (RFC 9110 §5.5). */
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
