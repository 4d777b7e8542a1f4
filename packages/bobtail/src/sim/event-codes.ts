/** What happens next; the subject of each is in brackets. */
/** A worker is done [job]. */
export const FINISH = 0;
/** The job that waits longest at a server may have waited too long [server]. */
export const GIVE_UP = 1;
/** A job fails without having been served [job]. */
export const FAIL = 2;
/** A call's own wake [request], and that of a lane of them [lane]. */
export const WAKE = 3;
export const LANE = 4;
/** Messages arrive: a copy [job], its answer [attempt], its failure [attempt], its cancel [job]. */
export const DELIVER = 5;
export const REPLY = 6;
export const LOST = 7;
export const CANCEL = 8;
/** Servers report their load [board]. */
export const REPORT = 9;
/** A fault begins or ends [fault state]. */
export const FAULT = 10;
