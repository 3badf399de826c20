/** The name of an HTTP header: a token of RFC 9110. */
export const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
