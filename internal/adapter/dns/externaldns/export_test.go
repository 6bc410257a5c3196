package externaldns

// ObjectName is the name of the DNSEndpoint of a name.
var ObjectName = objectName
