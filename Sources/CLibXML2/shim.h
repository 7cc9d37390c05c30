#include <libxml/xmlversion.h>
// Foundation carries an ICU of its own, whose declarations clash with those of the system's ICU. Only the private
// fields of xmlCharEncodingHandler depend on it, and they are never touched from here.
#undef LIBXML_ICU_ENABLED

#include <libxml/HTMLparser.h>
#include <libxml/SAX2.h>
#include <libxml/encoding.h>
#include <libxml/entities.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
